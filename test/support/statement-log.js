// Loaded into a service under test, and into each of its threads (`--import`): writes each statement that is
// prepared into the file STATEMENT_LOG, as a line of JSON after the file of its database. Plain JavaScript,
// like `fault-preload.js`.
import { appendFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const { value: prepare } = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'prepare')

DatabaseSync.prototype.prepare = function (sql, ...options) {
  appendFileSync(process.env.STATEMENT_LOG, `${JSON.stringify([this.location(), sql])}\n`)
  return Reflect.apply(prepare, this, [sql, ...options])
}
