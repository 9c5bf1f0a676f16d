import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Reports what PostgreSQL's JDBC driver sees, used as BI tools do. Connects with PGHOST, PGPORT and so on. */
public class JdbcClient {
  public static void main(String[] arguments) throws Exception {
    var environment = System.getenv();
    var url = "jdbc:postgresql://" + environment.get("PGHOST") + ":" + environment.get("PGPORT") + "/" + environment.get("PGDATABASE");
    try (var connection = DriverManager.getConnection(url, environment.get("PGUSER"), environment.get("PGPASSWORD"))) {
      count(connection.getMetaData().getTables(null, "livehouse\\_bi", "%", new String[] {"VIEW"}), "views", "described");
      count(connection.getMetaData().getColumns(null, "livehouse\\_bi", "%", "%"), "columns", "commented");
      var queries = Files.readAllLines(Path.of(environment.get("QUERIES"), "queries.lines"));
      System.out.println("queries " + runAll(connection, queries));
      System.out.println("masked " + (isMasked(connection) ? "yes" : "no"));
      System.out.println("refused " + (isRefused(connection) ? "yes" : "no"));
    }
  }

  private static void count(ResultSet objects, String allName, String commentedName) throws SQLException {
    int all = 0, commented = 0;
    while (objects.next()) {
      all++;
      var comment = objects.getString("REMARKS");
      if (comment != null && !comment.isEmpty()) commented++;
    }
    System.out.println(allName + " " + all);
    System.out.println(commentedName + " " + commented);
  }

  private static int runAll(Connection connection, List<String> queries) throws SQLException {
    int done = 0;
    for (var query : queries) {
      // With a fetch size and without autocommit, rows come through a cursor, as BI tools fetch them.
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(10);
        try (var rows = statement.executeQuery(query)) {
          while (rows.next()) rows.getObject(1);
        }
      }
      connection.commit();
      done++;
    }
    connection.setAutoCommit(true);
    return done;
  }

  private static boolean isMasked(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery("select phone from livehouse_bi.dim_viewer where phone is not null")) {
      boolean isMasked = false;
      while (rows.next()) {
        if (!rows.getString(1).contains("****")) return false;
        isMasked = true;
      }
      return isMasked;
    }
  }

  private static boolean isRefused(Connection connection) {
    try (var statement = connection.createStatement()) {
      statement.executeQuery("select * from livehouse.visitors");
      return false;
    } catch (SQLException refusal) {
      return "42501".equals(refusal.getSQLState());
    }
  }
}
