-- livehouse's login and the database that it owns. The login is not a superuser, and may not create roles or databases.
-- Run once as a superuser: psql --dbname postgres --file loader.sql; then \password livehouse
CREATE ROLE livehouse LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
-- Lets it report since when another login's transaction has blocked changes of its views.
GRANT pg_read_all_stats TO livehouse;
-- The views are granted to these roles. Another database of this server may have created them already.
DO $$ BEGIN CREATE ROLE livehouse_analyst NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE livehouse_pii NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE DATABASE livehouse OWNER livehouse TEMPLATE template0 ENCODING 'UTF8';
-- Without this, every login of the server may connect and create temporary tables.
REVOKE ALL ON DATABASE livehouse FROM PUBLIC;
GRANT CONNECT ON DATABASE livehouse TO livehouse_analyst, livehouse_pii;
