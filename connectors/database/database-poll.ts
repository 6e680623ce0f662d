import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type { PollConnector } from '../../src/contracts/poll-connector.ts'
import { withDriver } from '../optional-drivers.ts'
import type { Dialect } from './dialect.ts'
import { databaseOptions, type Protocol, parseAddress } from './options.ts'
import { PolledDatabase } from './polled-database.ts'
import { polledSource } from './source.ts'
import { sqlite } from './sqlite.ts'

/** What the operator has to say. */
export interface DatabaseSettings {
  /** Absolute paths of folders: files of SQLite in them may be read. */
  readonly sqliteFolders: readonly string[]
}

/** Readings from the rows of a database, which is asked from time to time. */
export function databasePoll({ sqliteFolders }: DatabaseSettings): PollConnector {
  // Dialects are loaded late: their libraries take up to 45 MB of memory, and most services have
  // use for one of them, or none.
  const dialects: Record<Protocol, () => Promise<Dialect>> = {
    postgres: async () => (await import('./postgres.ts')).postgres,
    mysql: async () => (await import('./mysql.ts')).mysql,
    mariadb: async () => (await import('./mysql.ts')).mysql,
    mssql: async () => (await withDriver('mssql', () => import('./mssql.ts'))).mssql,
    sqlite: async () => sqlite(sqliteFolders),
  }
  return {
    takes: (source) => isOfKind(polledSource, source),
    destinationOf: ({ protocol, endpoint }) => {
      if (protocol === 'sqlite') return undefined
      return parseAddress(protocol as Protocol, endpoint as string)
    },
    open: ({ source }) => {
      const options = databaseOptions(source)
      return new PolledDatabase(dialects[options.protocol], options)
    },
  }
}
