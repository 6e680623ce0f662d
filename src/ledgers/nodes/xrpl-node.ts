import { LedgerUnreachable } from '../ledger.ts'
import { NodeRefusal } from './ask-node.ts'
import type { AskOfNode, LedgerAccountFigures, LedgerNode, OwnAccounts } from './node-figures.ts'

/** Seconds from the Unix epoch to that of XRPL (https://xrpl.org/docs/references/protocol/data-types/basic-data-types#specifying-time). */
const epochS = 946_684_800

const dropsPerXrp = 1_000_000

const usPerSecond = 1_000_000

/** A server of XRPL (https://xrpl.org/docs/references/http-websocket-apis). */
export class XrplNode implements LedgerNode {
  readonly #askNode: AskOfNode

  constructor(askNode: AskOfNode) {
    this.#askNode = askNode
  }

  async network(): Promise<string> {
    const { info } = await this.#ask<{ info?: Info }>('server_info', {})
    // Servers of the main network may leave it out.
    return `xrpl:${whole(info?.network_id ?? 0)}`
  }

  async figures({ issuer, distributor }: OwnAccounts): Promise<LedgerAccountFigures> {
    const validated = { ledger_index: 'validated' }
    const [fee, { info }, { ledger }, ...roots] = await Promise.all([
      this.#ask<Fee>('fee', {}),
      this.#ask<{ info?: Info }>('server_info', {}),
      this.#ask<{ ledger?: { close_time?: unknown } }>('ledger', validated),
      issuer === undefined ? undefined : this.#account(issuer),
      distributor === undefined ? undefined : this.#account(distributor),
    ])
    const { open_ledger_fee: open, minimum_fee: least } = { ...fee.drops }
    const reserves = info?.validated_ledger
    const [issuing, distributing] = roots.map((root) => root && available(root, reserves))
    return {
      feeOfAnchor: BigInt(Math.max(whole(open), whole(least))),
      balances: {
        ...(issuing !== undefined && { issuer: issuing }),
        ...(distributing !== undefined && { distributor: distributing }),
      },
      reserveEach: BigInt(dropsOf(reserves?.reserve_inc_xrp)),
      blockTimeUs: (whole(ledger?.close_time) + epochS) * usPerSecond,
      hasContract: undefined,
      knowsAssets: true,
    }
  }

  /** One that nobody has funded is not there yet, and has nothing. */
  async #account(account: string): Promise<AccountRoot> {
    try {
      const question = { account, ledger_index: 'validated' }
      const { account_data: found } = await this.#ask<Found>('account_info', question)
      return { ...found }
    } catch (error) {
      if (error instanceof NodeRefusal && error.code === 'actNotFound') return { Balance: '0' }
      throw error
    }
  }

  async #ask<Result>(method: string, params: Readonly<Record<string, unknown>>): Promise<Result> {
    const result = await this.#askNode({ method, params })
    return { ...(result as Result | null) } as Result
  }
}

interface Info {
  readonly network_id?: unknown
  readonly validated_ledger?: Reserves
}

interface Reserves {
  /** XRP. */
  readonly reserve_base_xrp?: unknown
  readonly reserve_inc_xrp?: unknown
}

interface Fee {
  readonly drops?: { readonly open_ledger_fee?: unknown; readonly minimum_fee?: unknown }
}

interface Found {
  readonly account_data?: AccountRoot
}

interface AccountRoot {
  readonly Balance?: unknown
  readonly OwnerCount?: unknown
}

/** The network keeps a reserve of each account, and more for each thing that it owns. */
function available({ Balance, OwnerCount = 0 }: AccountRoot, reserves: Reserves = {}): bigint {
  const { reserve_base_xrp: base, reserve_inc_xrp: each } = reserves
  const kept = dropsOf(base) + dropsOf(each) * whole(OwnerCount)
  return BigInt(Math.max(0, whole(Balance) - kept))
}

/** An amount of XRP in drops; 0 where there is none. */
function dropsOf(xrp: unknown = 0): number {
  const drops = Math.round(Number(xrp) * dropsPerXrp)
  return Number.isFinite(drops) ? drops : 0
}

/** A whole number, also where it is written as a text. @throws LedgerUnreachable when it is none */
function whole(value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,17}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0) return number
  throw new LedgerUnreachable('the node answers with something that is not a number')
}
