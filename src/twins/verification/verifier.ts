import { sql } from 'kysely'
import {
  type AnchorProofs,
  type AnchorRecord,
  proofOfRecord,
} from '../../anchors/proofs/anchor-proofs.ts'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import type { FileStore } from '../../files/store/file-store.ts'
import {
  type Inclusion,
  type Ledger,
  LedgerUnreachable,
  type Sighting,
} from '../../ledgers/ledger.ts'
import { checkProof, type Verdict } from '../../ledgers/proofs/check-proof.ts'
import { Events } from '../../outbox/events/events.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { comparedContent, comparedParts } from './kept-parts.ts'
import { type Finding, resultOf } from './verification.ts'

/** Problems that an event names; the others only count. */
const problemsMax = 20

export interface VerifierNeeds {
  /** To read from. */
  readonly state: StateDatabase
  readonly writer: Pick<StateWriter, 'attempt'>
  readonly clock: Clock
  readonly files: Pick<FileStore, 'read'>
  readonly proofs: AnchorProofs
  /**
   * The ledger that is asked about a network; undefined where there is none.
   *
   * @throws LedgerUnreachable
   */
  readonly ledgerOf: (network: string) => Promise<Pick<Ledger, 'sight'> | undefined>
  /** Ids of the keys that blocks of ledgers of our own are signed with. */
  readonly trustedKeys: () => Promise<ReadonlySet<string>>
}

/** A vault as far as it is compared. */
interface VerifiedVault {
  readonly id: string
  readonly ownerId: UserId
  readonly name: string
  readonly templateId: string
  readonly jsonPayload: string | null
  readonly defaultImageCid: string
  readonly imageCid: string
}

/** Compares vaults, one after the other, with what is on their ledgers, and tells of the end. */
export class Verifier {
  readonly #needs: VerifierNeeds

  constructor(needs: VerifierNeeds) {
    this.#needs = needs
  }

  /** Takes the vault that waits for the longest. Resolves with whether there was one. */
  async runDue(): Promise<boolean> {
    const { state, writer } = this.#needs
    const row = await state
      .selectFrom('verifications')
      .selectAll()
      .orderBy('requested_at')
      .limit(1)
      .executeTakeFirst()
    if (!row) return false
    const vault = await this.#vault(row.vault_id)
    if (vault && (await this.#end(row.id, vault))) return true
    // Nobody is told anything of what is deleted.
    await writer.attempt(state.deleteFrom('verifications').where('id', '=', row.id))
    return true
  }

  async #vault(id: string): Promise<VerifiedVault | undefined> {
    const row = await this.#needs.state
      .selectFrom('vaults')
      .select(['owner_id', 'name', 'template_id', 'json_payload', 'default_image_cid', 'image_cid'])
      .where('id', '=', id)
      .executeTakeFirst()
    return (
      row && {
        id,
        ownerId: row.owner_id as UserId,
        name: row.name,
        templateId: row.template_id,
        jsonPayload: row.json_payload,
        defaultImageCid: row.default_image_cid,
        imageCid: row.image_cid,
      }
    )
  }

  /** Compares, and tells of it in the transaction that ends the verification. False when the vault is gone. */
  async #end(id: string, vault: VerifiedVault): Promise<boolean> {
    const { state, writer, clock, proofs } = this.#needs
    const record = await proofs.ofResource(vault.id)
    const findings = [
      ...(await this.#comparedAnchor(vault, record)),
      ...(await this.#comparedImage(vault)),
    ]
    const event = {
      type: 'vault.verification_complete',
      ownerId: vault.ownerId,
      resourceType: 'vault',
      resourceId: vault.id,
      vaultId: vault.id,
      templateId: vault.templateId,
      data: {
        id: vault.id,
        vault_id: vault.id,
        name: vault.name,
        result: resultOf(findings),
        cid: record?.cid ?? '',
        network: record?.network ?? '',
        tx_hash: record?.transaction?.hash ?? '',
        checked_at: formatUs(clock.nowUs()),
        problems: findings.slice(0, problemsMax).map(({ problem }) => problem),
      },
    } as const
    const isThere = sql<boolean>`EXISTS (SELECT 1 FROM vaults WHERE vaults.id = ${vault.id})`
    return await writer.attempt(
      state.deleteFrom('verifications').where('id', '=', id).where(isThere),
      ...new Events(state, clock).record(event),
    )
  }

  async #comparedAnchor(
    vault: VerifiedVault,
    record: AnchorRecord | undefined,
  ): Promise<readonly Finding[]> {
    if (!record) return [{ is: 'not_found', problem: 'the vault was never anchored' }]
    return [
      ...(await comparedParts(this.#needs, vault, record.parts)),
      ...(await this.#comparedRecord(record, 'the vault')),
    ]
  }

  /** An image of its own is anchored apart from the rest. */
  async #comparedImage({ id, imageCid }: VerifiedVault): Promise<readonly Finding[]> {
    if (imageCid === '') return []
    const name = 'the image of its own'
    const record = await this.#needs.proofs.ofResource(id, imageCid)
    if (!record) return [{ is: 'not_found', problem: `${name} was never anchored` }]
    return [
      ...(await comparedContent(this.#needs, { name, cid: imageCid })),
      ...(await this.#comparedRecord(record, name)),
    ]
  }

  /** Checks the proof that is kept, and asks the ledger whether it says the same. */
  async #comparedRecord(record: AnchorRecord, name: string): Promise<readonly Finding[]> {
    const { inclusion, transaction, status } = record
    if (!inclusion || !transaction) {
      const problem = `${name} is ${status}, and not final on the ledger`
      return [{ is: 'not_found', problem }]
    }
    const sighting = await this.#sight(record.network, transaction.hash)
    const found = [...(await this.#checkedProof(record)), ...seenOf(sighting, inclusion)]
    return found.map(({ is, problem }) => ({ is, problem: `${name}: ${problem}` }))
  }

  async #checkedProof(record: AnchorRecord): Promise<readonly Finding[]> {
    const proof = proofOfRecord(record, { isAlone: false })
    let trustedKeys: ReadonlySet<string>
    try {
      trustedKeys = await this.#needs.trustedKeys()
    } catch (error) {
      const problem = `the keys of the ledger cannot be read: ${messageOf(error)}`
      return [{ is: 'unreachable', problem }]
    }
    return checkedOf(checkProof(proof, { cids: [record.cid], trustedKeys }))
  }

  async #sight(network: string, hash: string): Promise<Sighting> {
    try {
      const ledger = await this.#needs.ledgerOf(network)
      if (!ledger) return { is: 'unreachable', reason: `there is no ledger ${network} here` }
      return await ledger.sight(hash)
    } catch (error) {
      if (!(error instanceof LedgerUnreachable)) throw error
      return { is: 'unreachable', reason: messageOf(error) }
    }
  }
}

/** What is wrong with a proof by itself. Ledgers of others are asked: a proof alone says nothing of them. */
function checkedOf(verdict: Verdict): readonly Finding[] {
  if (verdict.is === 'proven' || verdict.is === 'unreachable') return []
  if (verdict.is === 'proven_under_key') {
    const problem = `its block is signed with ${verdict.keyId}, which is no key of the ledger`
    return [{ is: 'contradicted', problem }]
  }
  return [{ is: verdict.is, problem: `its proof does not hold: ${verdict.reason}` }]
}

/** What a ledger says that is not what was kept of it. */
function seenOf(sighting: Sighting, kept: Inclusion): readonly Finding[] {
  if (sighting.is !== 'included') return [missedOf(sighting)]
  const { height, blockHash } = sighting.inclusion
  if (blockHash === kept.blockHash) return []
  const problem = `the ledger has the transaction in block ${height} (${blockHash}), and not in block ${kept.height} (${kept.blockHash})`
  return [{ is: 'contradicted', problem }]
}

function missedOf(sighting: Exclude<Sighting, { readonly is: 'included' }>): Finding {
  switch (sighting.is) {
    case 'unreachable':
      return { is: 'unreachable', problem: `the ledger was not reached: ${sighting.reason}` }
    case 'unknown':
      return { is: 'not_found', problem: 'the ledger does not know the transaction' }
    case 'superseded':
      return { is: 'contradicted', problem: 'the ledger has another transaction in its place' }
    case 'refused':
      return { is: 'contradicted', problem: `the ledger refuses it: ${sighting.reason}` }
    case 'early':
    case 'pending':
      break
  }
  return { is: 'not_found', problem: 'the ledger has the transaction in no block' }
}
