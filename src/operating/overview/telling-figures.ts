import { sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** Deliveries are counted up to here: who looks must not wait for millions of rows. */
export const deliveriesCountedMax = 10_000

/** Mails that failed so long ago are no news. */
const newsUs = 86_400_000_000

export interface ShownWebhook {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly status: string
  readonly consecutiveFailures: number
  readonly lastDeliveryAtUs: number | undefined
}

export interface WebhookFigures {
  readonly disabled: number
  /** Active ones whose last delivery has failed. */
  readonly failing: number
  /** Deliveries that are not over. */
  readonly waiting: number
  /** The disabled ones first, and then those that have failed most often. */
  readonly worst: readonly ShownWebhook[]
}

export interface MailFigures {
  /** Mails of the last day that were given up. */
  readonly failed: number
  readonly waiting: number
}

/** How the webhooks of an owner are doing: a user has a few of them. */
export async function webhookFigures(
  state: StateDatabase,
  ownerId: UserId,
  shownMax: number,
): Promise<WebhookFigures> {
  const rows = await state
    .selectFrom('webhooks')
    .select(['id', 'url', 'description', 'status'])
    .select(['consecutive_failures', 'last_delivery_at'])
    .where('owner_id', '=', ownerId)
    .execute()
  const disabled = rows.filter(({ status }) => status === 'DISABLED')
  const failing = rows
    .filter(({ status, consecutive_failures: failures }) => status === 'ACTIVE' && failures > 0)
    .toSorted((one, other) => other.consecutive_failures - one.consecutive_failures)
  return {
    disabled: disabled.length,
    failing: failing.length,
    waiting: await waitingFor(state, rows),
    worst: [...disabled, ...failing].slice(0, shownMax).map((row) => ({
      id: row.id,
      url: row.url,
      description: row.description,
      status: row.status,
      consecutiveFailures: row.consecutive_failures,
      lastDeliveryAtUs: row.last_delivery_at ?? undefined,
    })),
  }
}

/** How the mails of an owner are doing. */
export async function mailFigures(
  state: StateDatabase,
  ownerId: UserId,
  nowUs: number,
): Promise<MailFigures> {
  const recipients = await state
    .selectFrom('email_recipients')
    .select('id')
    .where('owner_id', '=', ownerId)
    .execute()
  const failed = await counted(
    state,
    sql`SELECT 1 FROM deliveries WHERE owner_id = ${ownerId} AND channel = 'mail'
      AND state = 'failed' AND created_at > ${nowUs - newsUs}`,
  )
  return { failed, waiting: await waitingFor(state, recipients) }
}

/** Deliveries to some receivers that are not over. */
async function waitingFor(
  state: StateDatabase,
  receivers: readonly { readonly id: string }[],
): Promise<number> {
  if (receivers.length === 0) return 0
  const ids = JSON.stringify(receivers.map(({ id }) => id))
  return await counted(
    state,
    sql`SELECT 1 FROM deliveries WHERE due_at IS NOT NULL
      AND receiver_id IN (SELECT value FROM json_each(${ids}))`,
  )
}

async function counted(state: StateDatabase, found: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ readonly found: number }>`SELECT count(*) AS found
    FROM (${found} LIMIT ${deliveriesCountedMax}) AS some`.execute(state)
  return rows[0]?.found ?? 0
}
