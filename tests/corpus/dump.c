/* What libical 3 reads of files: see random_edits.py. Input: paths, one a line. Output for each: lines
   "C DEPTH NAME" and "P NAME\037VALUE" for components and properties, then "." (alone, if it reads nothing). */
#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dump(icalcomponent *component, int depth)
{
    const char *name = icalcomponent_isa(component) == ICAL_X_COMPONENT ? "X" : icalcomponent_kind_to_string(icalcomponent_isa(component));
    printf("C %d %s\n", depth, name);
    for (icalproperty *p = icalcomponent_get_first_property(component, ICAL_ANY_PROPERTY); p;
         p = icalcomponent_get_next_property(component, ICAL_ANY_PROPERTY)) {
        if (icalproperty_isa(p) == ICAL_XLICERROR_PROPERTY)
            continue; /* What it does not know, or has no value. */
        const char *value = icalproperty_get_value_as_string(p);
        icalparameter *zone = icalproperty_get_first_parameter(p, ICAL_TZID_PARAMETER);
        icalparameter *range = icalproperty_get_first_parameter(p, ICAL_RANGE_PARAMETER);
        printf("P %s\037%s%s%s%s\n", icalproperty_get_property_name(p), value ? value : "", zone ? "\037" : "",
               zone ? icalparameter_get_tzid(zone) : "", range ? "\037RANGE" : "");
    }
    for (icalcomponent *c = icalcomponent_get_first_component(component, ICAL_ANY_COMPONENT); c;
         c = icalcomponent_get_next_component(component, ICAL_ANY_COMPONENT))
        dump(c, depth + 1);
}

int main(void)
{
    char path[4096];
    icalerror_set_errors_are_fatal(0);
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        FILE *file = fopen(path, "rb");
        if (file == NULL)
            return 1;
        char *text = calloc(1, 5 << 20);
        if (text == NULL || (fread(text, 1, (5 << 20) - 1, file) == 0 && ferror(file)))
            return 2;
        fclose(file);
        icalcomponent *calendar = icalparser_parse_string(text);
        if (calendar) {
            dump(calendar, 0);
            icalcomponent_free(calendar);
        }
        puts(".");
        free(text);
    }
    return 0;
}
