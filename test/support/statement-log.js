// Loaded into a service under test, and into each of its threads (`--import`): writes each statement that is
// prepared into the file STATEMENT_LOG, as a line of JSON after the file of its database. Plain JavaScript,
// like `fault-preload.js`.
import { appendFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

DatabaseSync.prototype.prepare = new Proxy(DatabaseSync.prototype.prepare, {
  apply(prepare, database, given) {
    appendFileSync(process.env.STATEMENT_LOG, `${JSON.stringify([database.location(), given[0]])}\n`)
    return Reflect.apply(prepare, database, given)
  },
})
