-- The login that livehouse works as, and its database, which it owns: no superuser, no right to make roles or databases.
-- Once, as a superuser: psql --dbname postgres --file loader.sql; then \password livehouse
CREATE ROLE livehouse LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
-- So that it can say since when another login's transaction has been in the way of its views.
GRANT pg_read_all_stats TO livehouse;
-- What the views are granted to. Other databases of this server may have them already.
DO $$ BEGIN CREATE ROLE livehouse_analyst NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE livehouse_pii NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE DATABASE livehouse OWNER livehouse TEMPLATE template0 ENCODING 'UTF8';
-- Otherwise every login of the server may connect, and make temporary tables.
REVOKE ALL ON DATABASE livehouse FROM PUBLIC;
GRANT CONNECT ON DATABASE livehouse TO livehouse_analyst, livehouse_pii;
