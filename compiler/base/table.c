/* table.c - a hash table from names to numbers. */
#include "base/table.h"

#include <stdint.h>
#include <string.h>

/* FNV-1a */
static uint64_t hash(const char *name) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return h;
}

/* The entry of NAME, or the free one where it belongs. */
static TableEntry *probe(const Table *table, const char *name) {
    size_t mask = (size_t)table->capacity - 1, at = (size_t)(hash(name) >> 16) & mask;
    while (table->entry[at].name != NULL && strcmp(table->entry[at].name, name) != 0)
        at = (at + 1) & mask;
    return &table->entry[at];
}

static void grow(Pool *pool, Table *table) {
    Table larger = {.count = table->count, .capacity = table->capacity == 0 ? 8 : 2 * table->capacity};
    larger.entry = NEW_ARRAY(pool, TableEntry, larger.capacity);
    for (int i = 0; i < table->capacity; i++)
        if (table->entry[i].name != NULL)
            *probe(&larger, table->entry[i].name) = table->entry[i];
    *table = larger;
}

int table_find(const Table *table, const char *name) {
    if (table->count == 0)
        return -1;
    const TableEntry *entry = probe(table, name);
    return entry->name == NULL ? -1 : entry->number;
}

void table_set(Pool *pool, Table *table, const char *name, int number) {
    if (2 * (table->count + 1) > table->capacity)
        grow(pool, table);
    TableEntry *entry = probe(table, name);
    table->count += entry->name == NULL;
    *entry = (TableEntry){name, number};
}
