-- An analyst, who reads only livehouse_bi and livehouse_forms, with personal data masked.
-- Run for each analyst as a superuser: sed s/anna/NAME/ analyst.sql | psql --dbname postgres; then \password NAME
CREATE ROLE anna LOGIN;
GRANT livehouse_analyst TO anna;
ALTER ROLE anna SET default_transaction_read_only = on;
-- Compiling a query of these views takes longer than running it.
ALTER ROLE anna SET jit = off;
-- A transaction that is left open blocks changes of the views.
ALTER ROLE anna SET idle_in_transaction_session_timeout = '10min';
