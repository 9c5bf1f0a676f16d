#!/bin/sh
# For the container of compose.yaml, after loader.sql: POSTGRES_PASSWORD becomes that of livehouse, and the superuser's is
# taken away. The superuser still gets in from inside: docker compose exec postgres psql --username postgres
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 <<'SQL'
\getenv password POSTGRES_PASSWORD
ALTER ROLE livehouse PASSWORD :'password';
ALTER ROLE postgres PASSWORD NULL;
SQL
