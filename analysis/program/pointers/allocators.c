/* Allocators of the C++ and Rust libraries: their template parameter is the type of what they allocate. Of memory that
 * holds more than elements (Rc's counters) nothing is said; Rust's hash tables are distinguished (element_table.h). */
#include "analysis/program/debug/scopes.h"
#include "analysis/program/pointers/pointers.h"
#include "analysis/program/types/type_die.h"

#include <dwarf.h>
#include <string.h>

static bool allocator_parameter(Dwarf_Die *die, const char *wanted, Dwarf_Die *type)
{
    Dwarf_Die parameter;
    return code_die_named(die, DW_TAG_template_type_parameter, wanted, &parameter) && type_die_of(&parameter, type);
}

/* The class of a method: what its `this` points to. */
static bool allocator_class(Dwarf_Die *function, Dwarf_Die *class)
{
    Dwarf_Die this, type;
    return code_die_named(function, DW_TAG_formal_parameter, "this", &this) && type_die_of(&this, &type) &&
           type_die_strip(&type, NULL) && type_die_is_pointer(&type) && type_die_of(&type, class) &&
           type_die_strip(class, NULL) && code_die_is_struct(class);
}

static bool allocator_cxx(Dwarf_Die *function, const char *name, Dwarf_Die *type)
{
    Dwarf_Die class;
    if (!code_begins_with(name, "std::|__gnu_cxx::|void std::"))
        return false;
    const char *own = allocator_class(function, &class) ? dwarf_diename(&class) : NULL;
    if (!own || !allocator_parameter(&class, "_Tp", type))
        return false;
    return strstr(own, "allocator<") && strstr(name, "::allocate(");
}

static bool allocator_is_table(const char *name)
{
    return code_begins_with(name, "hashbrown::raw::RawTable<");
}

static bool allocator_rust(Dwarf_Die *function, const char *name, Dwarf_Die *type)
{
    bool makes =
        code_begins_with(name, "alloc::vec::|alloc::raw_vec::|alloc::boxed::Box<|<alloc::vec::Vec<|<alloc::boxed::|"
                               "<T as alloc::vec::|alloc::slice::hack::");
    return (makes || allocator_is_table(name)) && allocator_parameter(function, "T", type);
}

static bool allocator_of_function(Dwarf_Die function, const char *name, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    for (int step = 0; step < 3; step++) { /* only the abstract function may have parameters */
        if (allocator_cxx(&function, name, type) || allocator_rust(&function, name, type))
            return true;
        if ((!dwarf_attr(&function, DW_AT_abstract_origin, &attribute) &&
             !dwarf_attr(&function, DW_AT_specification, &attribute)) ||
            !dwarf_formref_die(&attribute, &origin))
            return false;
        function = origin;
    }
    return false;
}

/* The T that a name says: of "std::allocator_traits<std::allocator<T> >::allocate(…)", "std::vector<T, …>::…". */
static bool allocator_named(const char *name, const char **text, size_t *length)
{
    static const char *const holders[] = {"std::allocator<", "new_allocator<"};
    const char *start = strncmp(name, "std::vector<", 12) ? NULL : name + 12;
    for (size_t i = 0; !start && i < 2 && strstr(name, "::allocate("); i++) {
        start = strstr(name, holders[i]);
        start = start ? start + strlen(holders[i]) : NULL;
    }
    int depth = 0;
    for (const char *at = start; at && *at; at++) {
        if (depth == 0 && (*at == ',' || *at == '>')) {
            while (at > start && at[-1] == ' ')
                at--;
            *text = start;
            *length = (size_t)(at - start);
            return true;
        }
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
    }
    return false;
}

/* Compilers may make one of two functions with the same code before they inline it: then it names another T than those
 * around it. */
bool code_allocator_at(struct code_module *module, uint64_t address, struct code_pointee *pointee,
                       struct code_allocator *allocator)
{
    struct code_scopes *scopes = code_scopes_at(module, address);
    struct code_range range;
    const char *symbol = NULL;
    Dwarf_Die found, type;
    const char *text = NULL, *other;
    size_t length = 0, other_length;
    bool any = false;
    pointee->name = "";
    *allocator = (struct code_allocator){.shared = false};
    allocator->library = !scopes && code_function_at(module, address, &range, &symbol) && symbol &&
                         lwp_types_is_library(code_demangle(module->code, symbol));
    for (uint32_t at = scopes ? code_scope_find(scopes, address) : LWP_NONE; at != LWP_NONE;
         at = scopes->items[at].parent) {
        const char *name = scopes->items[at].function == at ? code_scope_name(scopes, at) : NULL;
        if (!name)
            continue;
        allocator->library = lwp_types_is_library(name);
        if (!allocator->library) /* what the program's own code allocates inside of the library's is another matter */
            break;
        bool says = allocator_named(name, &other, &other_length);
        if (says && text && (other_length != length || strncmp(other, text, length)))
            allocator->shared = true;
        if (says && !text) {
            text = other;
            length = other_length;
        }
        if (!any && allocator_of_function(scopes->items[at].die, name, &type)) {
            allocator->shared |= at == 0;
            allocator->table = allocator_is_table(name);
            found = type;
            any = true;
        }
    }
    return any && code_pointee_itself(found, pointee) && !pointee->descriptor;
}
