import { sql } from 'kysely'
import type { KeyRole } from '../../ledgers/keys/ledger-key.ts'
import type { DeedKind, Heights, IssuedAsset, Leaf, Terms } from '../../ledgers/ledger.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { AnchorState } from '../intents/anchor.ts'

/** What is signed under a sequence and not on the ledger for good: the same deed, once or under several terms. */
export interface OpenTransaction {
  /** That of the newest. */
  readonly hash: string
  /** Hashes of what was signed for the same deed under this sequence before, newest first: any of all gets in, and only one. */
  readonly earlier: readonly string[]
  /** The one that its anchors name. */
  readonly named: string
  readonly sequence: number
  /** What is in it as its intent. */
  readonly intentId: string
  /** What the newest is signed under. */
  readonly terms: Terms
  /** When the newest was signed, in microseconds. */
  readonly signedAtUs: number
  /** How far those of its anchors are that are pursued; `error` when nobody waits for it any more. */
  readonly state: AnchorState
  /** Since when they are tried, in steady microseconds; infinite when nobody waits for them, so that they are never given up. */
  readonly begunAtUs: number
  /** The code of the asset that it records, if any. */
  readonly assetCode: string | null
}

/** An anchor of which nothing is signed. */
export interface WaitingAnchor {
  readonly number: number
  readonly id: string
  readonly resourceId: string
  readonly kind: DeedKind
  readonly uri: string | null
  readonly assetCode: string | null
  /** The asset that is issued. */
  readonly asset: IssuedAsset | undefined
  readonly begunAtUs: number
  /** Its resource is from before it was planned: that may be done anew after a restore, and it may be on the ledger by then. */
  readonly isEarlier: boolean
  readonly leaves: readonly Leaf[]
}

/** An anchor that a transaction is signed for. */
export interface SignedAnchor
  extends Pick<WaitingAnchor, 'id' | 'resourceId' | 'kind' | 'uri' | 'asset' | 'leaves'> {
  readonly firstLeaf: number
}

/** An anchor that is tried for too long. */
export interface OverdueAnchor {
  readonly id: string
  readonly state: AnchorState
  readonly isSigned: boolean
  readonly begunAtUs: number
}

interface OpenRow extends Omit<OpenTransaction, 'earlier' | 'named' | 'state' | 'begunAtUs'> {
  readonly state: string | null
  readonly begunAtUs: number | null
}

interface SignedRow extends Omit<SignedAnchor, 'asset' | 'leaves'> {
  readonly asset: string | null
  readonly cids: string
}

interface WaitingRow extends Omit<WaitingAnchor, 'asset' | 'leaves' | 'isEarlier'> {
  readonly asset: string | null
  readonly cids: string
  readonly isEarlier: number
}

/** Rows that are planned when their content comes, and not when they are made. */
interface Unplanned {
  readonly attachments: number
  readonly signatures: number
  /** Steps of assets are planned when the step before is done. */
  readonly assets: number
}

const pursued = sql`('waiting', 'signed', 'submitted', 'included')`

/** JSON of what an anchor commits to. */
const cidsOfAnchor = sql`(SELECT json_group_array(cid) FROM (SELECT cid FROM anchor_leaves
  WHERE anchor_id = anchors.id ORDER BY position))`

/** Later images show no status that somebody could try again. */
const isShown = sql`operation NOT LIKE 'image:%'`

/** What is to be done on one network by one account of ours, as it is written down. */
export class OpenWork {
  readonly #state: StateDatabase
  readonly #network: string
  readonly #role: KeyRole
  /** The newest that were there when it was asked for the newest anchor. */
  #unplanned: Unplanned = { attachments: 0, signatures: 0, assets: 0 }

  constructor(state: StateDatabase, network: string, role: KeyRole = 'issuer') {
    this.#state = state
    this.#network = network
    this.#role = role
  }

  /** Whether anything is to be done, unless somebody asks for more. */
  async isThere(): Promise<boolean> {
    const { rows } = await sql`SELECT 1 FROM anchors
      WHERE network = ${this.#network} AND state IN ${pursued} AND role = ${this.#role} LIMIT 1`.execute(
      this.#state,
    )
    return rows.length > 0
  }

  /** How far nodes were by the last row that was written; undefined before the first one. */
  async heights(): Promise<Heights | undefined> {
    return await this.#state
      .selectFrom('ledger_heights')
      .select(['head', 'final'])
      .where('network', '=', this.#network)
      .executeTakeFirst()
  }

  /** What is open of an account, in the order of the sequences; as many rows at most. */
  async transactions(account: string, limit: number): Promise<readonly OpenTransaction[]> {
    const { rows } = await sql<OpenRow>`
      SELECT hash, sequence, intent_id AS "intentId", terms, signed_at AS "signedAtUs",
        (SELECT state FROM anchors WHERE transaction_hash = hash
          ORDER BY state IN ('error', 'completed', 'failed') LIMIT 1) AS state,
        (SELECT min(begun_at) FROM anchors WHERE transaction_hash = hash
          AND state IN ${pursued} AND ${isShown}) AS "begunAtUs",
        (SELECT asset_code FROM anchors WHERE transaction_hash = hash LIMIT 1) AS "assetCode"
      FROM anchor_transactions
      WHERE network = ${this.#network} AND account = ${account} AND state = 'open'
      ORDER BY sequence, attempt DESC LIMIT ${limit}`.execute(this.#state)
    const groups = Map.groupBy(rows, ({ sequence, intentId }) => `${sequence} ${intentId}`)
    return [...groups.values()].map(([newest, ...earlier]) =>
      openTransaction(newest as OpenRow, earlier),
    )
  }

  /**
   * What a transaction is for, in the order of its leaves: nothing where it fills a place. Undefined for one that was found on
   * a ledger: it may commit to what is not here any more.
   */
  async signedAnchors(hash: string): Promise<readonly SignedAnchor[] | undefined> {
    const { leaves } = await this.#state
      .selectFrom('anchor_transactions')
      .select('leaves')
      .where('hash', '=', hash)
      .executeTakeFirstOrThrow()
    if (leaves !== null) return undefined
    const { rows } = await sql<SignedRow>`
      SELECT id, resource_id AS "resourceId", kind, uri, asset, first_leaf AS "firstLeaf",
        ${cidsOfAnchor} AS cids
      FROM anchors WHERE transaction_hash = ${hash} ORDER BY first_leaf`.execute(this.#state)
    return rows.map(({ cids, ...row }) => ({
      ...row,
      asset: assetOf(row.asset),
      leaves: leavesOf(row.id, cids),
    }))
  }

  /** Open transactions of other accounts than one. */
  async openOfOthers(account: string, limit: number): Promise<readonly string[]> {
    const rows = await this.#state
      .selectFrom('anchor_transactions')
      .select('hash')
      .where('network', '=', this.#network)
      .where('account', '<>', account)
      .where(sql<boolean>`state = 'open'`)
      .limit(limit)
      .execute()
    return rows.map(({ hash }) => hash)
  }

  /** Sequences from one on that open transactions have, in order. */
  async openSequences(account: string, from: number): Promise<readonly number[]> {
    const rows = await this.#state
      .selectFrom('anchor_transactions')
      .select('sequence')
      .where('network', '=', this.#network)
      .where('account', '=', account)
      .where('sequence', '>=', from)
      .where('state', '=', 'open')
      .orderBy('sequence')
      .execute()
    return rows.map(({ sequence }) => sequence)
  }

  async blobOf(hash: string): Promise<string> {
    const { blob } = await this.#state
      .selectFrom('anchor_transactions')
      .select('blob')
      .where('hash', '=', hash)
      .executeTakeFirstOrThrow()
    return blob
  }

  /** Anchors of which nothing is signed, with their leaves, in their order. */
  async waiting(limit: number): Promise<readonly WaitingAnchor[]> {
    const { attachments, signatures, assets } = this.#unplanned
    const { rows } = await sql<WaitingRow>`
      SELECT number, id, resource_id AS "resourceId", kind, uri,
        asset_code AS "assetCode", asset, begun_at AS "begunAtUs",
        quiet = 1
          OR EXISTS (SELECT 1 FROM attachments WHERE id = resource_id AND rowid <= ${attachments})
          OR EXISTS (SELECT 1 FROM signatures WHERE id = resource_id AND rowid <= ${signatures})
          OR EXISTS (SELECT 1 FROM assets WHERE id = resource_id AND rowid <= ${assets})
          AS "isEarlier",
        ${cidsOfAnchor} AS cids
      FROM anchors
      WHERE network = ${this.#network} AND state = 'waiting' AND role = ${this.#role}
      ORDER BY number LIMIT ${limit}`.execute(this.#state)
    return rows.map(({ cids, ...row }) => ({
      ...row,
      asset: assetOf(row.asset),
      isEarlier: row.isEarlier === 1,
      leaves: leavesOf(row.id, cids),
    }))
  }

  /** The number of the newest anchor. What waits for its content by then is taken for earlier once that comes. */
  async newest(): Promise<number> {
    const { rows } = await sql<Partial<Unplanned> & { readonly newest: number | null }>`
      SELECT (SELECT max(number) FROM anchors) AS newest,
        (SELECT coalesce(max(rowid), 0) FROM attachments) AS attachments,
        (SELECT coalesce(max(rowid), 0) FROM signatures) AS signatures,
        (SELECT coalesce(max(rowid), 0) FROM assets) AS assets`.execute(this.#state)
    const [{ newest, attachments = 0, signatures = 0, assets = 0 } = { newest: null }] = rows
    this.#unplanned = { attachments, signatures, assets }
    return newest ?? 0
  }

  /** Some of those that are tried since before a time. */
  async overdue(begunUntilUs: number, limit: number): Promise<readonly OverdueAnchor[]> {
    const { rows } = await sql<Omit<OverdueAnchor, 'isSigned'> & { readonly isSigned: number }>`
      SELECT id, state, transaction_hash IS NOT NULL AS "isSigned", begun_at AS "begunAtUs"
      FROM anchors
      WHERE network = ${this.#network} AND state IN ${pursued} AND begun_at <= ${begunUntilUs}
        AND role = ${this.#role} AND ${isShown}
      ORDER BY number LIMIT ${limit}`.execute(this.#state)
    return rows.map((row) => ({ ...row, isSigned: row.isSigned === 1 }))
  }

  /** Transactions from a sequence on that were on the ledger for good. */
  async finalFrom(account: string, sequence: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#state
      .selectFrom('anchor_transactions')
      .select('hash')
      .where('network', '=', this.#network)
      .where('account', '=', account)
      .where('sequence', '>=', sequence)
      .where('state', '=', 'final')
      .orderBy('sequence')
      .limit(limit)
      .execute()
    return rows.map(({ hash }) => hash)
  }
}

function leavesOf(intentId: string, cids: string): readonly Leaf[] {
  return (JSON.parse(cids) as readonly string[]).map((cid) => ({ intentId, cid }))
}

function assetOf(text: string | null): IssuedAsset | undefined {
  return text === null ? undefined : (JSON.parse(text) as IssuedAsset)
}

/** Anchors name one of what is signed for them under a sequence. */
function openTransaction(newest: OpenRow, earlier: readonly OpenRow[]): OpenTransaction {
  const named = [newest, ...earlier].find(({ state }) => state !== null) ?? newest
  return {
    ...newest,
    earlier: earlier.map(({ hash }) => hash),
    named: named.hash,
    state: pursuedState(named.state),
    begunAtUs: named.begunAtUs ?? Number.POSITIVE_INFINITY,
    assetCode: named.assetCode,
  }
}

/**
 * A transaction without anchors fills a place, and one whose anchors are done has to be on the ledger again: both
 * are pursued. One that all have given up on is not.
 */
function pursuedState(state: string | null): AnchorState {
  if (state === null || state === 'completed' || state === 'failed') return 'signed'
  return state as AnchorState
}
