/* Data objects: one for each allocation path (and pool size), static variable, stack variable. */
#ifndef LWP_ANALYSIS_PROFILE_OBJECTS_H
#define LWP_ANALYSIS_PROFILE_OBJECTS_H

#include "analysis/profile/profile.h"

enum { LWP_ARRAY_BYTES = 16 << 10 };

/* Objects with less than this of all weight and of all accesses are shown by nobody: what their elements are is not
 * lookup_address. */
static const double lwp_object_worth = 0.0005;

/* Each returns the object's index, made at the first call. */
uint32_t lwp_objects_allocated(struct lwp_profile *profile, enum lwp_object_kind kind, uint32_t context,
                               uint64_t pool_size);
/* Every address from the variable's start up to *until has this answer. */
uint32_t lwp_objects_static(struct lwp_profile *profile, uint32_t module, uint64_t address, uint64_t *offset,
                            uint64_t *until);
/* A variable `from_cfa` bytes from the frame base of the function executing `address`. */
uint32_t lwp_objects_stack(struct lwp_profile *profile, uint32_t module, uint64_t address, int64_t from_cfa,
                           uint64_t *offset);
uint32_t lwp_objects_other_stack(struct lwp_profile *profile); /* on a thread's stack, frame not known */
uint32_t lwp_objects_unowned(struct lwp_profile *profile);     /* address known, nothing recorded there */
uint32_t lwp_objects_unknown(struct lwp_profile *profile);     /* address not known */

/* What one process's blocks add to an object of kind heap or mmap. */
struct lwp_object_life {
    uint64_t allocations, bytes, largest, allocated_ns, freed_ns;
};

void lwp_objects_count(struct lwp_object *object, const struct lwp_object_life *life);

/* The same object in this profile as `other`, which was gathered in another one, with its blocks. Its module and context have
 * this profile's numbers already. */
uint32_t lwp_objects_adopt(struct lwp_profile *profile, const struct lwp_object *other);

/* Whether its blocks are so large that it may be an array worth watching. */
static inline bool lwp_objects_is_array(const struct lwp_profile *profile, uint32_t index)
{
    const struct lwp_object *object = &profile->objects[index];
    return object->largest >= LWP_ARRAY_BYTES &&
           (object->kind == LWP_OBJECT_HEAP || object->kind == LWP_OBJECT_STATIC || object->kind == LWP_OBJECT_MMAP);
}

/* Numbers the objects by what they are, whatever the order they were made in, their contexts having been numbered so;
 * numbers[old] is the new one. Until lwp_objects_index none of the functions above can be called. */
void lwp_objects_sort(struct lwp_profile *profile, uint32_t *numbers);
void lwp_objects_index(struct lwp_profile *profile);

/* The innermost frame of an allocation that is not a library's allocator wrapper: the one people look for. */
bool lwp_objects_site(struct lwp_profile *profile, uint32_t context, struct lwp_frame *frame, uint32_t *node);

/* Whether the code is lwp's own, which stands between the program and the functions it calls. */
bool lwp_objects_own_code(const struct lwp_profile *profile, uint32_t module);

/* Code of the C or C++ library: its copies and fills touch memory without knowing what is in it. */
bool lwp_objects_library_code(const struct lwp_profile *profile, uint32_t module);

/* What people call it, made when first lookup_address for: of many objects few are shown. NULL: nothing of it was accessed. */
const char *lwp_objects_name(struct lwp_profile *profile, uint32_t index);

#endif
