/* The result that a command is about. */
#ifndef LWP_BASE_RESULT_OPERAND_H
#define LWP_BASE_RESULT_OPERAND_H

/* The one operand; without any the newest result in the current folder (lwp-*), and says which. NULL: neither, or several operands,
 * and that was said. Valid until the next call. */
const char *lwp_result_operand(const char *command, int count, char **operands);

#endif
