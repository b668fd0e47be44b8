#include "patch/loops/nest.h"

#include <stdlib.h>

void nest_refuse(struct nest *nest, struct walk *walk, enum lwp_refusal reason, CXCursor at)
{
    struct lwp_source *source = NULL;
    size_t offset = 0;
    walk_place(walk, clang.getRangeStart(clang.getCursorExtent(at)), &source, &offset);
    lwp_refuse(&nest->refusals, reason, source, offset, NULL);
}

void nest_free(struct nest *nest)
{
    free(nest->elements);
    free(nest->outsides);
    free(nest->around.uses);
    free(nest->refusals.refuseds);
    *nest = (struct nest){0};
}

const char *nest_type(CXType type)
{
    switch (clang.getCanonicalType(type).kind) {
    case CXType_Pointer:
        return "pointer";
    case CXType_Short:
    case CXType_UShort:
        return "short";
    case CXType_Int:
    case CXType_UInt:
        return "int";
    case CXType_Long:
    case CXType_ULong:
        return "long";
    case CXType_LongLong:
    case CXType_ULongLong:
        return "long long";
    case CXType_Float:
        return "float";
    case CXType_Double:
        return "double";
    case CXType_LongDouble:
        return "long double";
    default:
        return "";
    }
}

bool nest_is_inside(struct walk *walk, CXCursor cursor, const struct lwp_source *source, size_t begin, size_t end)
{
    struct lwp_source *in = NULL;
    size_t at = 0;
    return walk_place(walk, clang.getRangeStart(clang.getCursorExtent(cursor)), &in, &at) && in == source && at >= begin && at < end;
}
