/* Reads VTIMEZONEs with libical 3. Input, any number of times: "OCTETS COUNT\n", a calendar of so many octets, and COUNT
   lines "INSTANT LOCAL PLAIN" in seconds since 1970, with PLAIN 1 where the clock shows the local time once. Output: the
   offset of each instant; that of the local time where it is plain and its offset another one. */
#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    size_t octets;
    int count;
    while (scanf("%zu %d\n", &octets, &count) == 2) {
        char *text = calloc(octets + 1, 1);
        if (text == NULL || fread(text, 1, octets, stdin) != octets)
            return 1;
        icalcomponent *calendar = icalparser_parse_string(text);
        icalcomponent *definition = calendar ? icalcomponent_get_first_component(calendar, ICAL_VTIMEZONE_COMPONENT) : NULL;
        icaltimezone *zone = icaltimezone_new();
        if (definition == NULL || !icaltimezone_set_component(zone, icalcomponent_new_clone(definition)))
            return 2;
        while (count-- > 0) {
            long long instant, local;
            int plain, daylight;
            if (scanf("%lld %lld %d\n", &instant, &local, &plain) != 3)
                return 3;
            struct icaltimetype utc = icaltime_from_timet_with_zone((time_t)instant, 0, icaltimezone_get_utc_timezone());
            struct icaltimetype clock = icaltime_from_timet_with_zone((time_t)local, 0, NULL);
            int offset = icaltimezone_get_utc_offset_of_utc_time(zone, &utc, &daylight);
            int by_clock = icaltimezone_get_utc_offset(zone, &clock, &daylight);
            printf("%d\n", plain && by_clock != offset ? by_clock : offset);
        }
        icaltimezone_free(zone, 1);
        icalcomponent_free(calendar);
        free(text);
    }
    return 0;
}
