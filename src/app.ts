import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { MessageChannel } from 'node:worker_threads'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Logger } from 'pino'
import { connectors } from '../connectors/index.ts'
import type { MqttEndpoints } from '../connectors/mqtt-listeners.ts'
import { mqttAuthentication, openAccess } from './access.ts'
import { type Config, urlHost } from './config/config.ts'
import { openDataFolder } from './config/data-folder.ts'
import { productVersion } from './config/product-version.ts'
import { type Certificate, readCertificate } from './config/tls-files.ts'
import { ReceiptClock, systemClock } from './core/clock.ts'
import { dataStreamRoutes } from './data-streams/data-stream-routes.ts'
import { DataStreamStore, streamVersionOf } from './data-streams/data-stream-store.ts'
import { QuarantineStore } from './data-streams/quarantine-store.ts'
import { readingsRoutes } from './data-streams/readings-routes.ts'
import { ReceiptStore } from './data-streams/receipt-store.ts'
import { favoriteRoutes } from './favorites/favorite-routes.ts'
import { FavoriteStore } from './favorites/favorite-store.ts'
import { buildHttpServer, type CallerOf } from './http/server.ts'
import type { Posts } from './idempotency/posts.ts'
import { ThreadedJournal } from './journal/threaded-journal.ts'
import { TrimSchedule } from './journal/trim-schedule.ts'
import { failingParts, serviceMetrics } from './observability/facts.ts'
import { healthRoutes } from './observability/health.ts'
import { metricsRoutes } from './observability/metrics.ts'
import { GroupCommit } from './pipeline/group-commit.ts'
import { Intake } from './pipeline/intake.ts'
import { StreamDirectory } from './pipeline/stream-directory.ts'
import { ProcessingWorker } from './processing-worker.ts'
import { openStateForReading } from './state/database.ts'
import { templateRoutes } from './templates/template-routes.ts'
import { TemplateStore } from './templates/template-store.ts'
import { vaultRoutes } from './vaults/vault-routes.ts'
import { VaultStore } from './vaults/vault-store.ts'

/** How long requests under way may take when the service stops. */
const requestPatienceMs = 2_000

/** A running service. */
export interface Service {
  readonly httpAddress: string
  /** Undefined when MQTT is off. */
  readonly mqttAddress: string | undefined
  /** Undefined without TLS. */
  readonly mqttsAddress: string | undefined
  /** Path of the file with the generated bootstrap key, or nothing when the key was given. */
  readonly adminFile: string | undefined
  /** Rejects when a thread ends by an error: the process should end, too. */
  readonly failed: Promise<never>
  /**
   * Reads certificate and key again, for new connections over TLS.
   *
   * @throws Error when they are no good: the old ones stay in use
   */
  reloadCertificate(): void
  /** Stops taking, keeps what was taken, and releases the data folder. */
  close(): Promise<void>
}

/** Composition root: the only file that knows everyone. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const engine = await startEngine(config)
  const { http, mqtt, auth } = await startFronts(engine, { config, logger })
  const addresses = addressesOf(config, { http, mqtt })
  engine.announce(Object.values(addresses))
  return {
    ...addresses,
    adminFile: auth.adminFile,
    failed: Promise.race([engine.journal.failed, engine.worker.failed]),
    reloadCertificate() {
      if (config.tls === undefined) return
      const certificate = readCertificate(config.tls)
      ;(http.server as unknown as TlsServer).setSecureContext({
        ...certificate,
        minVersion: 'TLSv1.2',
      })
      mqtt?.setCertificate(certificate)
    },
    async close() {
      await Promise.all([mqtt?.close(), closeHttp(http)])
      await engine.commits.drain()
      await auth.close()
      await engine.close()
    },
  }
}

type Addresses = Pick<Service, 'httpAddress' | 'mqttAddress' | 'mqttsAddress'>

function addressesOf(config: Config, { http, mqtt }: Omit<Fronts, 'auth'>): Addresses {
  const { port } = http.server.address() as AddressInfo
  const host = urlHost(config.host)
  return {
    httpAddress: `${config.tls ? 'https' : 'http'}://${host}:${port}`,
    mqttAddress: mqtt?.port === undefined ? undefined : `mqtt://${host}:${mqtt.port}`,
    mqttsAddress: mqtt?.securePort === undefined ? undefined : `mqtts://${host}:${mqtt.securePort}`,
  }
}

/** Requests under way may end; a connection that just hangs on does not keep the process. */
async function closeHttp(http: FastifyInstance): Promise<void> {
  const patience = setTimeout(() => http.server.closeAllConnections(), requestPatienceMs)
  await http.close()
  clearTimeout(patience)
}

type Engine = Awaited<ReturnType<typeof startEngine>>
type Fronts = Awaited<ReturnType<typeof startFronts>>

/** Everything that keeps and processes readings: threads, journal, state, intake. */
async function startEngine(config: Config) {
  const folder = openDataFolder(config.dataDir, 'serve')
  const { port1: follower, port2: head } = new MessageChannel()
  const worker = new ProcessingWorker({
    statePath: folder.state,
    timeSeriesPath: folder.timeSeries,
    journalPath: folder.journal,
    head,
    logLevel: config.logLevel,
  })
  const [journal] = await Promise.all([
    ThreadedJournal.open({
      path: folder.journal,
      bytesMax: config.journalBytesMax,
      followers: [follower],
    }),
    worker.ready(),
  ])
  await worker.start()
  const state = openStateForReading(folder.state)
  const receipts = new ReceiptClock(systemClock)
  const commits = new GroupCommit(journal)
  const trimming = new TrimSchedule(journal, async () => {
    const { shipper, decider } = await worker.status()
    return Math.min(shipper.position, decider.position)
  })
  return {
    journal,
    worker,
    state,
    receipts,
    commits,
    intake: new Intake({ commits, receipts }),
    announce: folder.announce,
    async close() {
      await trimming.stop()
      await worker.stop()
      await journal.close()
      await state.destroy()
      folder.unlock()
    },
  }
}

interface Context {
  readonly config: Config
  readonly logger: Logger
}

/** Everything that others talk to: HTTP and MQTT. */
async function startFronts(engine: Engine, context: Context) {
  const { config, logger } = context
  const { state, worker } = engine
  const onFailure = (error: unknown) => logger.error({ err: error }, 'unexpected failure')
  const access = await openAccess(
    { state, writer: worker, clock: systemClock, onFailure },
    { dataDir: config.dataDir, masterKey: config.masterKey, adminKey: config.adminKey },
  )
  const { auth, posts } = access
  const streams = new DataStreamStore(state, systemClock)
  const directory = new StreamDirectory(async (id) => {
    const stream = await streams.load(id)
    return stream && streamVersionOf(stream)
  })
  const certificate = config.tls && readCertificate(config.tls)
  const mqtt =
    config.mqttPort === 0 && config.mqttsPort === 0
      ? undefined
      : await connectors.mqttBroker(mqttEndpoints(config, certificate), {
          intake: engine.intake,
          streams: directory,
          authenticate: mqttAuthentication(auth),
          nowUs: () => systemClock.nowUs(),
          assertReady: () => engine.commits.assertReady(),
          isReady: () => engine.commits.failure === undefined,
          onFailure,
          onClientError: (clientId, error) =>
            logger.debug({ clientId, reason: error.message }, 'an MQTT client failed'),
        })
  auth.directory.onEnd((keyId) => mqtt?.endSessionsOfKey(keyId))
  const http = await buildHttpServer({
    logger,
    version: productVersion(),
    publicUrl: config.publicUrl,
    checkAnswers: config.checkAnswers,
    network: { ...config, certificate },
    authenticator: auth.authenticator,
    openRoutes: [
      ...access.openRoutes,
      healthRoutes({ failingParts: () => failingParts(engine) }),
      metricsRoutes(serviceMetrics({ ...engine, mqtt, directory, auth })),
    ],
    routes: [...access.routes, ...guardedRoutes(engine, { config, streams, directory, posts })],
  })
  await listen(http, config)
  return { http, mqtt, auth }
}

function mqttEndpoints(
  { host, mqttPort, mqttsPort }: Config,
  certificate: Certificate | undefined,
): MqttEndpoints {
  const isSecure = certificate !== undefined && mqttsPort !== 0
  return {
    host,
    port: mqttPort,
    ...(isSecure && { secure: { port: mqttsPort, ...certificate } }),
  }
}

interface GuardedNeeds {
  readonly config: Config
  readonly streams: DataStreamStore
  readonly directory: StreamDirectory
  readonly posts: Posts
}

/** Routes that need credentials. */
function guardedRoutes(
  { state, worker, journal, intake, commits, receipts }: Engine,
  { config, streams, directory, posts }: GuardedNeeds,
): readonly ((callerOf: CallerOf) => FastifyPluginAsync)[] {
  const templates = new TemplateStore(state, worker, systemClock)
  const vaults = new VaultStore(state, worker, systemClock)
  const quarantine = new QuarantineStore(state)
  const favorites = new FavoriteStore(state, worker, systemClock)
  const receiptStore = new ReceiptStore(state, worker)
  const processing = {
    caughtUp: async () => worker.decided((await journal.status()).head),
    progress: (id: string) => worker.progress(id),
    async problem() {
      const failing = await failingParts({ journal, worker })
      return Object.values(failing)[0]
    },
  }
  return [
    (callerOf) => templateRoutes({ templates, posts, callerOf }),
    (callerOf) => vaultRoutes({ vaults, templates, posts, callerOf }),
    (callerOf) =>
      dataStreamRoutes({
        streams,
        vaults,
        processing,
        posts,
        callerOf,
        publicUrl: config.publicUrl,
        nowUs: () => systemClock.nowUs(),
      }),
    (callerOf) => favoriteRoutes({ favorites, posts, callerOf }),
    (callerOf) =>
      readingsRoutes({ streams, quarantine, query: (query) => worker.query(query), callerOf }),
    (callerOf) =>
      connectors.httpPush({
        intake,
        findStream: (id) => directory.find(id),
        receipts,
        receiptOf: (request, nowUs) => receiptStore.receiptOf(request, nowUs),
        assertReady: () => commits.assertReady(),
        callerOf,
      }),
  ]
}

async function listen(http: FastifyInstance, { host, httpPort }: Config): Promise<void> {
  await http.ready()
  http.server.listen(httpPort, host)
  await once(http.server, 'listening')
}
