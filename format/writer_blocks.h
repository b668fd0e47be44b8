/* What encode.c needs of the writer's file. */
#ifndef LWP_FORMAT_WRITER_BLOCKS_H
#define LWP_FORMAT_WRITER_BLOCKS_H

#include "format/writer.h"

/* Makes sure that the open block has room for a record of `room` bytes. False: there is none, the record is lost. */
bool lwps_writer_ready(struct lwps_writer *writer, uint32_t room);

/* Adds one encoded record to the open block. */
void lwps_writer_append(struct lwps_writer *writer, const uint8_t *bytes, uint32_t size);

#endif
