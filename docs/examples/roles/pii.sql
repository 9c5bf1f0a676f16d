-- Somebody who may see phones, names and answers in clear: the same views, and nothing else.
-- For each, as a superuser: sed s/paul/NAME/ pii.sql | psql --dbname postgres; then \password NAME
CREATE ROLE paul LOGIN;
GRANT livehouse_pii TO paul;
ALTER ROLE paul SET default_transaction_read_only = on;
-- Compiling a query of these views takes longer than running it.
ALTER ROLE paul SET jit = off;
-- A transaction that is left open holds up changes of the views.
ALTER ROLE paul SET idle_in_transaction_session_timeout = '10min';
