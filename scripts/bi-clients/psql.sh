# Reports what psql sees. Connects with PGHOST, PGPORT and so on. \dv+ shows the comments of views, \d+ of columns.
set -eu
ask() { psql -X -q -A -t -F '|' -v ON_ERROR_STOP=1 "$@"; }
ask -c '\dv+ livehouse_bi.*' | awk -F '|' '{ views++; if ($NF != "") described++ } END { print "views " views; print "described " described }'
# Each line of a view's description has: column, type, collation, nullable, default, storage, description.
for view in $(ask -c '\dv livehouse_bi.*' | cut -d '|' -f 2); do
  ask -P footer=off -c "\\d+ livehouse_bi.$view" | sed '/^View definition:/,$d'
done | awk -F '|' 'NF >= 7 { columns++; if ($NF != "") commented++ } END { print "columns " columns; print "commented " commented }'
ask -f "$QUERIES/queries.sql" > /dev/null
echo "queries $(wc -l < "$QUERIES/queries.lines" | tr -d ' ')"
ask -c "select 'masked ' || case when bool_and(phone like '%****%') then 'yes' else 'no' end from livehouse_bi.dim_viewer where phone is not null"
if ask -c 'select 1 from livehouse.visitors' > /dev/null 2>&1; then echo 'refused no'; else echo 'refused yes'; fi
