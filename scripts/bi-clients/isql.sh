# Reports what isql sees through ODBC, with the data source in ODBCINI. isql takes one statement per line and shows no
# comments, so this script queries them.
set -eu
ask() { isql livehouse "$PGUSER" "$PGPASSWORD" -b -d'|' -v; }
described="select count(*), count(obj_description(c.oid, 'pg_class')) from pg_class c where c.relnamespace = 'livehouse_bi'::regnamespace and c.relkind = 'v'"
commented="select count(*), count(col_description(c.oid, a.attnum)) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'livehouse_bi'::regnamespace and c.relkind = 'v'"
echo "$described" | ask | awk -F '|' 'NF == 2 { print "views " $1; print "described " $2 }'
# Here the list of tables comes from ODBC itself (SQLTables).
listed=$(echo 'help' | ask | grep -c 'livehouse_bi|') || true
echo "$commented" | ask | awk -F '|' 'NF == 2 { print "columns " $1; print "commented " $2 }'
ok=0
while IFS= read -r query; do
  if answer=$(echo "$query" | ask 2>&1) && ! echo "$answer" | grep -q 'SQLSTATE\|\[ISQL\]ERROR\|^\[[0-9A-Z]\{5\}\]'; then ok=$((ok + 1)); else echo "failed: $query $answer" >&2; fi
done < "$QUERIES/queries.lines"
echo "queries $ok"
echo "select 'masked ' || case when bool_and(phone like '%****%') then 'yes' else 'no' end from livehouse_bi.dim_viewer where phone is not null" | ask | grep '^masked'
if echo 'select 1 from livehouse.visitors' | ask 2>&1 | grep -q 'permission denied'; then echo 'refused yes'; else echo 'refused no'; fi
echo "listed $listed"
