import type { FastifyPluginAsync } from 'fastify'
import type { Logger } from 'pino'
import { type AnchorFigures, anchorFigures } from '../../anchors/figures/anchor-figures.ts'
import { busyNetworks } from '../../anchors/figures/busy-networks.ts'
import { sandbox } from '../../anchors/intents/chosen-network.ts'
import type { EarlierSalts } from '../../anchors/metadata/earlier-salt.ts'
import { AnchorProofs, type AnchorRecord } from '../../anchors/proofs/anchor-proofs.ts'
import { openRoutes, type PublicResource } from '../../anchors/proofs/open-routes.ts'
import type { LaneFigures } from '../../anchors/pursuit/lane-needs.ts'
import { ThreadedAnchoring } from '../../anchors/pursuit/threaded-anchoring.ts'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../core/clock.ts'
import { parseId, type VaultId } from '../../core/ids.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import { type Cipher, ensureSandboxKeys, ledgerKeys } from '../../ledgers/sandbox/keys.ts'
import type { MeasuredAnchors } from '../../operating/observability/anchor-facts.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { EarlierPass } from '../../twins/anchored/earlier-pass.ts'
import { listedSignature } from '../../twins/signatures/signature-body.ts'
import type { SignatureStore } from '../../twins/signatures/signature-store.ts'
import type { TemplateStore } from '../../twins/templates/template-store.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import type { VerificationStore } from '../../twins/verification/verification-store.ts'
import type { AnchoringThreadData } from '../anchoring/anchoring-contract.ts'
import type { ContentSigning } from './content-signing.ts'
import type { Engine } from './engine.ts'

export interface AnchoringNeeds extends EarlierSalts {
  readonly config: Config
  readonly logger: Logger
  readonly cipher: Cipher
  readonly vaults: Pick<VaultStore, 'load'>
  readonly verifications: Pick<VerificationStore, 'isThere' | 'onAsked'>
  readonly templates: TemplateStore
  readonly signatures: Pick<SignatureStore, 'ofContent'>
  readonly contentSigning: Pick<ContentSigning, 'wake'>
}

export interface Anchoring {
  readonly proofs: AnchorProofs
  readonly openRoutes: readonly FastifyPluginAsync[]
  /** What is wrong with ledgers now, by their names: readings do not wait for them. */
  degraded(): Promise<Readonly<Record<string, string>>>
  readonly measured: MeasuredAnchors
  /** There may be something to do. */
  readonly wake: () => void
  /** Rejects when the thread that anchors ends by an error. */
  readonly failed: Promise<never>
  /** Goes on with what was left to be anchored. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** Composition of what puts something on ledgers, in a thread, and of what tells of it. */
export function openAnchoring(engine: Engine, needs: AnchoringNeeds): Anchoring {
  const { state, folder, worker, ports } = engine
  const { config, logger, cipher, vaults, verifications, templates, saltOf } = needs
  const { contentSigning, signatures } = needs
  const proofs = new AnchorProofs(state)
  const anchoring = anchoringOf(engine, config)
  const wake = () => {
    if (config.isAnchoring) anchoring.wake()
  }
  worker.onAnchors(() => {
    // What was put in may be content that somebody wants signed.
    contentSigning.wake()
    wake()
  })
  ports.sealedPort.on('message', wake)
  ports.sealedPort.unref()
  // To look at a ledger is no harm, whatever may be put on it.
  verifications.onAsked(() => anchoring.wake())
  const earlier = new EarlierPass(
    { state, writer: worker, clock: systemClock, templates, saltOf },
    (error) => logger.error({ err: error }, 'what was there before could not be anchored'),
  )
  return {
    proofs,
    degraded: async () =>
      degradedOf([...(await forsaken(state, config)), ...(await anchoring.figures())]),
    measured: measuredIn(state),
    openRoutes: [
      openRoutes({
        proofs,
        ledgerKeys: () => ledgerKeys(folder.ledger),
        findPublic: (record) => publicVault(vaults, record),
        signaturesOf: async (cid) => (await signatures.ofContent(cid)).map(listedSignature),
      }),
    ],
    wake,
    failed: anchoring.failed,
    async start() {
      try {
        await ensureSandboxKeys(folder.ledger, cipher)
      } catch (error) {
        logger.error({ err: error }, 'the keys of the sandbox ledger are of no use')
      }
      if (config.isAnchoring) earlier.start()
      const busy = config.isAnchoring ? await busyNetworks(state) : []
      if (busy.some((network) => networksOf(config).includes(network))) anchoring.wake()
      if (await verifications.isThere()) anchoring.wake()
    },
    async stop() {
      // What is sealed while the service stops is anchored after its next start.
      ports.sealedPort.close()
      await earlier.stop()
      await anchoring.stop()
    },
  }
}

function anchoringOf({ folder, ports }: Engine, config: Config): ThreadedAnchoring {
  const data: AnchoringThreadData = {
    statePath: folder.state,
    dataDir: config.dataDir,
    masterKey: config.masterKey,
    ledgers: config.ledgers,
    ledgerFolder: folder.ledger,
    filesAddress: config.filesAddress,
    filesFolder: folder.files,
    isAnchoring: config.isAnchoring,
    patienceUs: config.anchorPatienceUs,
    batchWaitUs: config.anchorBatchWaitUs,
    desk: ports.anchorDeskPort,
    log: config.log,
  }
  const options = { workerData: data, transferList: [data.desk] }
  return new ThreadedAnchoring(() =>
    startThread(import.meta.url, '../anchoring/anchoring-thread', options),
  )
}

type LedgerProblem = Pick<LaneFigures, 'network' | 'problem'>

function networksOf({ ledgers }: Config): readonly string[] {
  return [sandbox, ...ledgers.map(({ network }) => network)]
}

/** What is to go to a network that has no endpoint any more waits, and nothing else would say so. */
async function forsaken(state: StateDatabase, config: Config): Promise<readonly LedgerProblem[]> {
  if (!config.isAnchoring) return []
  const known = networksOf(config)
  const busy = await busyNetworks(state)
  const problem = 'no endpoint is configured for it, and something waits to be anchored there'
  return busy.filter((one) => !known.includes(one)).map((network) => ({ network, problem }))
}

function measuredIn(state: StateDatabase): MeasuredAnchors {
  let figures: AnchorFigures | undefined
  return {
    get figures() {
      return figures
    },
    async count() {
      figures = await anchorFigures(state, systemClock)
    },
  }
}

/** The sandbox is what people know as the ledger; others are named after their networks. */
function degradedOf(lanes: readonly LedgerProblem[]): Readonly<Record<string, string>> {
  const down = lanes.flatMap(({ network, problem }) => {
    const name = network === sandbox ? 'ledger' : `ledger ${network}`
    return problem === undefined ? [] : [[name, problem] as const]
  })
  return Object.fromEntries(down)
}

/** Nothing but a vault can be public. */
async function publicVault(
  vaults: AnchoringNeeds['vaults'],
  { resourceType, resourceId }: AnchorRecord,
): Promise<PublicResource | undefined> {
  const id = resourceType === 'vault' ? parseId<VaultId>(resourceId) : undefined
  const vault = id && (await vaults.load(id))
  return vault?.public === true ? { type: 'vault', id: vault.id, name: vault.name } : undefined
}
