// libsystemd: the journal and the readiness notification.
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
