/* What lwp collect has set (env.h), as it was when the process image began: the program may change its environment since. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_SETTINGS_H
#define LWP_COLLECTOR_LIGHT_OWN_SETTINGS_H

/* Once, from the constructor. */
void lwp_settings_take(void);

/* The value of an LWP_ENV_ variable, NULL: it was not set. */
const char *lwp_setting(const char *name);

/* The same as a number; `otherwise` where it is none. */
double lwp_setting_number(const char *name, double otherwise);

/* As if nothing had been set. */
void lwp_settings_forget(void);

#endif
