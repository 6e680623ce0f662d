import { DatabaseSync } from 'node:sqlite'
import { databasePoll } from '../../connectors/database/database-poll.ts'
import { scheduled } from '../../src/streams/sources/schedules/scheduled-source.ts'
import type { FetchedPeer } from '../contracts/connector-contract.ts'
import type { Mariadb } from './mariadb.ts'
import type { Postgres } from './postgres.ts'
import type { TemporaryFolder } from './temporary-folder.ts'

/** What every stream of these reads, each second. */
const sourceKeys = {
  query: 'SELECT number, timestamp FROM readings',
  incrementalColumn: 'timestamp',
  keyColumn: 'number',
  schedule: '* * * * * *',
} as const

/** What the contract of connectors needs to know of these: messages are of one page, of 500 rows each. */
export const contractNeeds = { unacknowledgedMax: 10, hasPositions: true, carries: 'rows' } as const

/** Rows of one statement. */
const rowsMax = 500

/** A table on a server, where each payload becomes a row. */
export async function serverPeer(server: Postgres | Mariadb): Promise<FetchedPeer> {
  // The test before may have left it stopped.
  await server.start()
  const database = await server.newDatabase()
  const isPostgres = server.protocol === 'postgres'
  const type = isPostgres ? 'timestamptz' : 'datetime'
  const create = `CREATE TABLE readings (number bigint PRIMARY KEY, timestamp ${type} NOT NULL)`
  await (await server.session(database))(create)
  return {
    connector: scheduled(databasePoll({ sqliteFolders: [] })),
    source: {
      protocol: server.protocol,
      endpoint: server.endpoint(database),
      credentials: server.credentials,
      ...sourceKeys,
    },
    ports: [server.port],
    async publish(payloads) {
      const session = await server.session(database)
      for (let at = 0; at < payloads.length; at += rowsMax) {
        const values = payloads
          .slice(at, at + rowsMax)
          .map((payload) => valuesOf(payload, isPostgres))
        await session(`INSERT INTO readings (number, timestamp) VALUES ${values.join(', ')}`)
      }
    },
    stop: () => server.stop(),
    start: () => server.start(),
  }
}

/** A table in a file. */
export function sqlitePeer(folder: TemporaryFolder): FetchedPeer {
  const file = folder.file('plant.db')
  const folders: string[] = [folder.path]
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE readings (number INTEGER PRIMARY KEY, timestamp TEXT NOT NULL)')
  return {
    connector: scheduled(databasePoll({ sqliteFolders: folders })),
    source: { protocol: 'sqlite', endpoint: file, ...sourceKeys },
    ports: [],
    async publish(payloads) {
      for (let at = 0; at < payloads.length; at += rowsMax) {
        const values = payloads.slice(at, at + rowsMax).map((payload) => valuesOf(payload, true))
        database.exec(`INSERT INTO readings (number, timestamp) VALUES ${values.join(', ')}`)
      }
    },
    // A file is always there; what can go away is the right to read it.
    stop: async () => {
      folders.length = 0
    },
    start: async () => {
      folders.push(folder.path)
    },
  }
}

function valuesOf(payload: Uint8Array, takesZones: boolean): string {
  const [, number, timestamp = ''] = pattern.exec(Buffer.from(payload).toString()) ?? []
  return `(${number}, '${takesZones ? timestamp : timestamp.slice(0, -1)}')`
}

/** Numbers may be greater than those that JSON is read to. */
const pattern = /^\{"number":(\d+),"timestamp":"([^"]+)"\}$/
