import { type FetchRun, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { formatLsn, type LogPosition, parseLsn } from './log-position.ts'
import type { PostgresLogOptions } from './options.ts'
import { describeFailure } from './refusals.ts'
import type { ReplicationConnection } from './replication-connection.ts'
import { identifier, literal } from './sql-text.ts'

/** A new slot begins when all transactions that are under way have ended. */
const creationMs = 30 * 60_000

/** Wait after which it is shown what is waited for. */
const heldUpMs = 2_000

const heldUp =
  'the server makes the replication slot when all transactions have ended that were under way there: one of them goes on and on'

const goOn =
  'To go on, load what is missing by other means, and give the source another `slot`: it begins at the present'

/**
 * Where the log is to be read from. A slot is made only for a source that was never read: one that is missing
 * later has taken changes with it, and somebody has to know.
 *
 * @throws SourceRefused when changes are lost, or the slot is of no use
 */
export async function findStart(
  connection: ReplicationConnection,
  options: PostgresLogOptions,
  {
    position,
    onHeldUp,
  }: { readonly position: LogPosition | undefined } & Pick<FetchRun, 'onHeldUp'>,
): Promise<LogPosition> {
  const { slot } = options
  const [identity] = await connection.query('IDENTIFY_SYSTEM')
  const { systemid, xlogpos } = identity as Readonly<Record<string, unknown>>
  const server = { system: String(systemid), endLsn: parseLsn(String(xlogpos)) }
  if (position) assertSameServer(position, server)
  const [found] = await connection.query(
    `SELECT plugin, slot_type, database, wal_status, confirmed_flush_lsn::text AS confirmed
       FROM pg_replication_slots WHERE slot_name = ${literal(slot)}`,
  )
  if (found) return startAt(found, { options, position, system: server.system })
  if (position === undefined) {
    const patience = setTimeout(() => onHeldUp(heldUp), heldUpMs)
    try {
      return { system: server.system, lsn: await createSlot(connection, options) }
    } finally {
      clearTimeout(patience)
    }
  }
  throw new SourceRefused(
    `the replication slot ${slot} is gone: changes of the table since ${formatLsn(position.lsn)} are lost. ${goOn}`,
  )
}

function assertSameServer(
  { system, lsn }: LogPosition,
  server: { readonly system: string; readonly endLsn: bigint },
): void {
  if (system !== server.system) {
    throw new SourceRefused(
      `this is another server (${server.system}) than the one that was read (${system}): what it changed before cannot be known. ${goOn}`,
    )
  }
  if (lsn <= server.endLsn) return
  throw new SourceRefused(
    `the log of the server ends at ${formatLsn(server.endLsn)}, and was read up to ${formatLsn(lsn)}: the server was set back. ${goOn}`,
  )
}

interface Wanted {
  readonly options: PostgresLogOptions
  readonly position: LogPosition | undefined
  readonly system: string
}

function startAt(
  found: Readonly<Record<string, unknown>>,
  { options: { slot, database }, position, system }: Wanted,
): LogPosition {
  if (found['plugin'] !== 'pgoutput' || found['database'] !== database) {
    throw new SourceRefused(
      `the replication slot ${slot} is not one of pgoutput in the database ${database}`,
    )
  }
  const { confirmed } = found
  if (found['wal_status'] === 'lost' || typeof confirmed !== 'string') {
    const since = position ? ` since ${formatLsn(position.lsn)}` : ''
    throw new SourceRefused(
      `the replication slot ${slot} was invalidated, as the server kept no more of its log: changes of the table${since} are lost. ${goOn}`,
    )
  }
  const confirmedLsn = parseLsn(confirmed)
  if (position === undefined) return { system, lsn: confirmedLsn }
  // Nothing is confirmed that is not durable here: somebody else has done so, or made the slot anew.
  if (confirmedLsn > position.lsn) {
    throw new SourceRefused(
      `the replication slot ${slot} was moved to ${confirmed} by another client: changes of the table since ${formatLsn(position.lsn)} are lost. ${goOn}`,
    )
  }
  return position
}

async function createSlot(
  connection: ReplicationConnection,
  { slot }: PostgresLogOptions,
): Promise<bigint> {
  const command = `CREATE_REPLICATION_SLOT ${identifier(slot)} LOGICAL pgoutput NOEXPORT_SNAPSHOT`
  const [created] = await connection.query(command, creationMs)
  return parseLsn(String(created?.['consistent_point']))
}

/** @throws SourceRefused when there would be no slot to be had */
export async function assertFreeSlot(connection: ReplicationConnection): Promise<void> {
  const [found] = await connection.query(
    `SELECT count(*) < current_setting('max_replication_slots')::int AS is_free FROM pg_replication_slots`,
  )
  if (found?.['is_free'] === true) return
  throw new SourceRefused('the server has no replication slot left (max_replication_slots)')
}

/** Drops what keeps the log of the server; what is gone already is no error. */
export async function dropSlot(
  connection: ReplicationConnection,
  { slot, publication, isOwnPublication }: PostgresLogOptions,
): Promise<void> {
  try {
    await connection.query(`DROP_REPLICATION_SLOT ${identifier(slot)} WAIT`)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== undefinedObject)
      throw describeFailure(error)
  }
  if (isOwnPublication) {
    await connection.query(`DROP PUBLICATION IF EXISTS ${identifier(publication)}`)
  }
}

/** SQLSTATE, appendix A of the manual. */
const undefinedObject = '42704'
