-- A reader of the same views, and nothing else, who may see phones, names and answers in clear.
-- Run for each reader as a superuser: sed s/paul/NAME/ pii.sql | psql --dbname postgres; then \password NAME
CREATE ROLE paul LOGIN;
GRANT livehouse_pii TO paul;
ALTER ROLE paul SET default_transaction_read_only = on;
-- Compiling a query of these views takes longer than running it.
ALTER ROLE paul SET jit = off;
-- A transaction that is left open blocks changes of the views.
ALTER ROLE paul SET idle_in_transaction_session_timeout = '10min';
