#!/bin/sh
# Runs in the container of compose.yaml after loader.sql: gives POSTGRES_PASSWORD to livehouse, and removes the superuser's
# password. The superuser can still connect from inside: docker compose exec postgres psql --username postgres
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 <<'SQL'
\getenv password POSTGRES_PASSWORD
ALTER ROLE livehouse PASSWORD :'password';
ALTER ROLE postgres PASSWORD NULL;
SQL
