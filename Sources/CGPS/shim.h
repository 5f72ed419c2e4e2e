// libgps: only gps_unpack and the report structures are used, the socket is ours.
#include <gps.h>
