"""Reports what pandas and SQLAlchemy see. Connects with PGHOST, PGPORT and so on."""

import json
import os

import pandas
import sqlalchemy

engine = sqlalchemy.create_engine("postgresql+psycopg2://")
inspector = sqlalchemy.inspect(engine)
views = inspector.get_view_names("livehouse_bi")
columns = [column for view in views for column in inspector.get_columns(view, "livehouse_bi")]
print("views", len(views))
print("described", sum(bool(inspector.get_table_comment(view, "livehouse_bi")["text"]) for view in views))
print("columns", len(columns))
print("commented", sum(bool(column.get("comment")) for column in columns))
with open(os.path.join(os.environ["QUERIES"], "queries.json"), encoding="utf-8") as file:
    queries = json.load(file)
print("queries", sum(len(pandas.read_sql(sqlalchemy.text(query), engine).columns) > 0 for query in queries))
phones = pandas.read_sql("select phone from livehouse_bi.dim_viewer where phone is not null", engine)["phone"]
print("masked", "yes" if len(phones) > 0 and phones.str.contains(r"\*{4}").all() else "no")
try:
    pandas.read_sql("select * from livehouse.visitors", engine)
    print("refused no")
except sqlalchemy.exc.ProgrammingError:
    print("refused yes")
