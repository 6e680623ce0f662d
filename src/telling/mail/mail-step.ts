import { sql } from 'kysely'
import { type Clocks, steadyUsOf } from '../../core/clock.ts'
import type { RecordedEvent } from '../../outbox/events/events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { isByAnother } from '../notifications/by-others.ts'
import { mailRow } from './mail-delivery.ts'

/**
 * Mails to one address: so many are written in one minute of steady time, as in an inbox, and so many wait. Nobody
 * reads more; and a mail server takes who sends more for who sends to everybody.
 */
const anyMails = { ofMinuteMax: 100, waitingMax: 1_000 } as const

/** What others bring about is written as long as there are fewer: the rest is left to what is the user's own. */
const mailsByOthers = { ofMinuteMax: 20, waitingMax: 200 } as const

const minuteUs = 60_000_000

export interface MailPlannerNeeds {
  readonly clock: Clocks
  /** Called with the recipients before anything is committed. */
  readonly onPlanned: (recipientIds: readonly string[]) => void
}

/**
 * Plans the mails of an event (decisions.md#events-and-their-changes, decisions.md#mail), in the
 * transaction that writes the event.
 */
export class MailPlanner {
  readonly #needs: MailPlannerNeeds
  #withheld = 0

  constructor(needs: MailPlannerNeeds) {
    this.#needs = needs
  }

  /** Mails that were not written since the start, because there were too many for the address. */
  get withheld(): number {
    return this.#withheld
  }

  /**
   * Plans the mails of one event to all addresses of its owner. The preferences have been asked
   * before.
   */
  readonly step = async (
    transaction: StateDatabase,
    event: RecordedEvent,
    channels: ReadonlySet<string>,
  ): Promise<number> => {
    if (!channels.has('email')) return 0
    const { id: eventId, type: eventType, ownerId, resourceId, atUs: createdAtUs } = event
    const dueAtUs = steadyUsOf(this.#needs.clock, createdAtUs)
    const limits = isByAnother(event) ? mailsByOthers : anyMails
    const planned: string[] = []
    for (const recipientId of await recipientsFor(transaction, event)) {
      if (await takesOneMore(transaction, { recipientId, dueAtUs, ...limits }))
        planned.push(recipientId)
      else this.#withheld++
    }
    if (planned.length === 0) return 0
    await transaction
      .insertInto('deliveries')
      .values(
        planned.map((recipientId) =>
          mailRow({ recipientId, ownerId, eventId, eventType, resourceId, createdAtUs, dueAtUs }),
        ),
      )
      .execute()
    this.#needs.onPlanned(planned)
    return planned.length
  }
}

/** Recipients who have said yes, and are not switched off (decisions.md#mail). */
async function recipientsFor(
  transaction: StateDatabase,
  { ownerId, severity }: RecordedEvent,
): Promise<readonly string[]> {
  const rows = await transaction
    .selectFrom('email_recipients')
    .select(['id', 'severities'])
    .where('owner_id', '=', ownerId)
    .where('status', '=', 'ACTIVE')
    .where('verified_at', 'is not', null)
    .execute()
  return rows.filter(({ severities }) => isWanted(severity, severities)).map(({ id }) => id)
}

/** Only alerts have a severity, and only they are left out by one. */
function isWanted(severity: string | undefined, severities: string): boolean {
  if (severity === undefined || severities === '[]') return true
  return (JSON.parse(severities) as readonly string[]).includes(severity)
}

interface OneMore {
  readonly recipientId: string
  /** In steady microseconds. */
  readonly dueAtUs: number
  readonly ofMinuteMax: number
  readonly waitingMax: number
}

/** Counts a mail. Resolves with whether there was room for it in this minute, and among those that wait. */
async function takesOneMore(
  transaction: StateDatabase,
  { recipientId, dueAtUs, ofMinuteMax, waitingMax }: OneMore,
): Promise<boolean> {
  const minute = Math.floor(dueAtUs / minuteUs)
  const isSameMinute = sql<boolean>`minute = ${minute}`
  const waiting = sql`SELECT 1 FROM deliveries
    WHERE receiver_id = ${recipientId} AND due_at IS NOT NULL LIMIT ${waitingMax}`
  const { numUpdatedRows } = await transaction
    .updateTable('email_recipients')
    .set({
      minute,
      written: sql<number>`CASE WHEN ${isSameMinute} THEN written + 1 ELSE 1 END`,
    })
    .where('id', '=', recipientId)
    .where(sql<boolean>`NOT (${isSameMinute} AND written >= ${ofMinuteMax})`)
    .where(sql<boolean>`(SELECT count(*) FROM (${waiting}) AS waiting) < ${waitingMax}`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
