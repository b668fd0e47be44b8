/* Data objects: one for each allocation path (and pool size), static variable, stack variable. */
#ifndef LWP_ANALYSIS_PROFILE_OBJECTS_H
#define LWP_ANALYSIS_PROFILE_OBJECTS_H

#include "analysis/profile/profile.h"

enum { LWP_ARRAY_BYTES = 16 << 10 };

/* Objects with less than this share of all costs and of all accesses are never shown: their elements are not analysed. */
static const double lwp_object_worth = 0.0005;

/* Objects of accesses without one. */
enum lwp_object_special {
    LWP_OBJECT_OTHER_STACK, /* on a thread's stack, frame not known */
    LWP_OBJECT_NOT_KNOWN,   /* address not known */
    LWP_OBJECT_UNOWNED,     /* address known, no object recorded there */
    LWP_OBJECT_SPECIALS
};

/* Each returns the index of the object, made at the first call. */
uint32_t lwp_objects_allocated(struct lwp_profile *profile, enum lwp_object_kind kind, uint32_t context, uint64_t pool_size);
/* Every address from the variable's start up to *until has this answer. */
uint32_t lwp_objects_static(struct lwp_profile *profile, uint32_t module, uint64_t address, uint64_t *offset, uint64_t *until);
/* A variable `from_cfa` bytes from the frame base of the function executing `address`. */
uint32_t lwp_objects_stack(struct lwp_profile *profile, uint32_t module, uint64_t address, int64_t from_cfa, uint64_t *offset);
uint32_t lwp_objects_special(struct lwp_profile *profile, enum lwp_object_special which);

/* What one process's blocks add to an object of kind heap or mmap. */
struct lwp_object_life {
    uint64_t allocations, bytes, largest, allocated_ns, freed_ns;
};

void lwp_objects_count(struct lwp_object *object, const struct lwp_object_life *life);

/* A part of the object that holds elements of one type: an object of its own, nothing accessed yet. It moves other objects in memory. */
uint32_t lwp_objects_part(struct lwp_profile *profile, uint32_t index, const struct lwp_type *type);

/* The same object in this profile as `other`, which was gathered in another one, with its blocks. Its module and context have
 * this profile's numbers already. */
uint32_t lwp_objects_adopt(struct lwp_profile *profile, const struct lwp_object *other);

/* Whether it is memory of the program's that is no stack. */
static inline bool lwp_objects_is_data(const struct lwp_object *object)
{
    return object->kind == LWP_OBJECT_HEAP || object->kind == LWP_OBJECT_STATIC || object->kind == LWP_OBJECT_MMAP;
}

/* Whether its blocks are large enough to be an array whose traversals matter. */
static inline bool lwp_objects_is_array(const struct lwp_profile *profile, uint32_t index)
{
    const struct lwp_object *object = &profile->objects[index];
    return object->largest >= LWP_ARRAY_BYTES && lwp_objects_is_data(object);
}

/* For qsort_r() of objects' indices, with profile->objects: the most cost first. */
int lwp_objects_heavier(const void *a, const void *b, void *objects);

/* Numbers the objects by kind, module, address and context, so that numbers do not depend on the order in which they were made; after
 * lwp_contexts_sort. numbers[old] is the new one. No object can be looked up until lwp_objects_index. */
void lwp_objects_sort(struct lwp_profile *profile, uint32_t *numbers);
void lwp_objects_index(struct lwp_profile *profile);

/* The allocation site: the innermost frame that is not an allocation wrapper. */
bool lwp_objects_site(struct lwp_profile *profile, uint32_t context, struct lwp_frame *frame, uint32_t *node);

/* Whether it stands for memory of known addresses in which no object is known. */
bool lwp_objects_unowned(const struct lwp_object *object);

/* Whether it is constants of the code and texts of a module, and no variable. */
bool lwp_objects_constant(const struct lwp_profile *profile, const struct lwp_object *object);

/* Whether the code is lwp's own preload library. */
bool lwp_objects_own_code(const struct lwp_profile *profile, uint32_t module);

/* Code of the C or C++ library: its copies and fills do not depend on the type of the data. */
bool lwp_objects_library_code(const struct lwp_profile *profile, uint32_t module);

/* Code and data of any library of the system: not the program's to change. */
bool lwp_objects_system_library(const struct lwp_profile *profile, uint32_t module);

/* Its name, made at the first call, since few of many objects are shown. NULL: it was never accessed. */
const char *lwp_objects_name(struct lwp_profile *profile, uint32_t index);

#endif
