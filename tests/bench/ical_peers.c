/* What ical_peers.sh measures of libical: one line of measure, contender and nanoseconds each.
 *   cc -O2 -o ical_peers ical_peers.c -lical && ./ical_peers FOLDER */
#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7 };
static const double ROUND = 20e6;

static double cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

struct task { const char *text, *rule, *start; int count; };

static void parse(const struct task *task) {
    icalcomponent *calendar = icalparser_parse_string(task->text);
    if (!calendar || icalcomponent_count_components(calendar, ICAL_VEVENT_COMPONENT) == 0) exit(1);
    icalcomponent_free(calendar);
}

static void walk(const struct task *task) {
    icalrecur_iterator *made = icalrecur_iterator_new(icalrecurrencetype_from_string(task->rule), icaltime_from_string(task->start));
    for (int n = 0; n < task->count; n++)
        if (icaltime_is_null_time(icalrecur_iterator_next(made))) exit(2);
    icalrecur_iterator_free(made);
}

/* The best time of one operation. */
static double best(void (*run)(const struct task *), const struct task *task) {
    double least = 0;
    long repeats = 1;
    for (int round = 0; round < ROUNDS;) {
        double start = cpu();
        for (long n = 0; n < repeats; n++) run(task);
        double taken = cpu() - start;
        if (taken < ROUND && round == 0) { repeats *= 2; continue; }
        if (round++ == 0 || taken / repeats < least) least = taken / repeats;
    }
    return least / task->count;
}

static char *read_file(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) { perror(path); exit(3); }
    char *text = calloc(1, 8 << 20);
    if (fread(text, 1, (8 << 20) - 1, file) == 0) exit(3);
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    if (count != 2) return 4;
    const char *files[] = {"event.ics", "calendar.ics"};
    for (int n = 0; n < 2; n++) {
        struct task task = {read_file(arguments[1], files[n]), 0, 0, 1};
        printf("parse of %zu bytes into lines and components\tlibical %s\t%.1f\n", strlen(task.text), ICAL_VERSION, best(parse, &task));
    }
    struct task rules[] = {
        {0, "FREQ=WEEKLY;BYDAY=MO,WE,FR", "20240101T090000", 1000},
        {0, "FREQ=DAILY", "20240101T090000", 10000},
        {0, "FREQ=MONTHLY;BYDAY=-1FR", "20240126T090000", 1000},
        {0, "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "20241128T090000", 200},
    };
    for (int n = 0; n < 4; n++)
        printf("one of %d: %s\tlibical %s\t%.1f\n", rules[n].count, rules[n].rule, ICAL_VERSION, best(walk, &rules[n]));
    return 0;
}
