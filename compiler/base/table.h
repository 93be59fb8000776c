/* table.h - a number for each name, found in constant time however many names there are. */
#ifndef TABLE_H
#define TABLE_H

#include "base/memory.h"

typedef struct {
    const char *name; /* NULL: free */
    int number;
} TableEntry;

/* Open addressing; zeroed, it is an empty table.  Names are not copied: they must outlive the table. */
typedef struct {
    TableEntry *entry;
    int count, capacity; /* a power of two, at most half of it used */
} Table;

/* The number of NAME, or -1. */
int table_find(const Table *table, const char *name);
/* Adds NAME, or gives it another number, which is not negative. */
void table_set(Pool *pool, Table *table, const char *name, int number);

#endif
