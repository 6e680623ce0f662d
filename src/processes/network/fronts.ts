import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { connectors } from '../../../connectors/index.ts'
import type { MqttEndpoints } from '../../../connectors/mqtt-broker/guard/listeners.ts'
import type { MqttBroker } from '../../../connectors/mqtt-broker/mqtt-broker.ts'
import type { Auth } from '../../access/auth/auth.ts'
import type { Config } from '../../config/config.ts'
import { productVersion } from '../../config/product-version.ts'
import { type Certificate, readCertificate } from '../../config/tls-files.ts'
import { systemClock } from '../../core/clock.ts'
import type { Tracing } from '../../core/tracing.ts'
import { openFileStore } from '../../files/store/open-file-store.ts'
import { mqttSessionRoutes } from '../../ingest/mqtt-sessions/session-routes.ts'
import { UnroutedMessages } from '../../ingest/unrouted/unrouted-messages.ts'
import { asyncApiRoutes } from '../../operating/asyncapi/asyncapi-routes.ts'
import type { Backups } from '../../operating/backup/backups.ts'
import { ConsoleFiles } from '../../operating/console/console-files.ts'
import { consoleRoutes } from '../../operating/console/console-routes.ts'
import { failingParts, serviceMetrics } from '../../operating/observability/facts.ts'
import { healthRoutes } from '../../operating/observability/health.ts'
import { metricsRoutes } from '../../operating/observability/metrics.ts'
import { startTracing } from '../../operating/tracing/start-tracing.ts'
import type { PendingEvent } from '../../outbox/lifecycle/lifecycle-events.ts'
import { startLifecycleRelay } from '../../outbox/lifecycle/lifecycle-relay.ts'
import type { Relay } from '../../outbox/relay/relay.ts'
import type { LiveParts } from '../../reading/live/tail-routes.ts'
import { BodiesInFlight } from '../../requests/http/bodies-in-flight.ts'
import { buildHttpServer, type GuardedRoutes } from '../../requests/http/server.ts'
import { PurgeTimer } from '../../storage/state/purge-timer.ts'
import type { FleetChanges } from '../../streams/fleets/fleet-changes.ts'
import { type Access, mqttAuthentication, mqttCallerOfKey, openAccess } from './access.ts'
import { type AlertingUpkeep, alertingRoutes, startAlerting } from './alerting.ts'
import { type Anchoring, openAnchoring } from './anchoring.ts'
import { type BackingUp, openBackups } from './backing-up.ts'
import { type ContentSigning, openContentSigning } from './content-signing.ts'
import { type Delivering, openDelivering } from './delivering.ts'
import { registeringRoutes } from './device-access.ts'
import { type Domains, openDomains } from './domains.ts'
import type { Engine } from './engine.ts'
import { type Fetching, openFetching } from './fetching.ts'
import { type Filing, openFiling } from './filing.ts'
import { openFleetChanges } from './fleet-upkeep.ts'
import { openLive } from './following.ts'
import { type Ledgers, openLedgers } from './ledgers.ts'
import { measuredParts } from './measured-parts.ts'
import { forgetDeletedUsers, forgetEndedDevices } from './mqtt-upkeep.ts'
import { type Notifying, notifyingRoutes, openNotifying } from './notifying.ts'
import { guardedRoutes } from './routes.ts'
import { openSharing, type Sharing } from './sharing.ts'
import { openSigningIn, type SigningIn } from './signing-in.ts'
import { openTransfers, type Transfers } from './transfers.ts'

/** Everything that others talk to. */
export interface Fronts {
  readonly http: FastifyInstance
  /** Undefined when MQTT is off. */
  readonly mqtt: MqttBroker | undefined
  readonly auth: Auth
  readonly purges: PurgeTimer
  readonly relay: Relay<PendingEvent>
  readonly alerting: AlertingUpkeep
  readonly fetching: Fetching
  readonly transfers: Transfers
  readonly backups: Backups
  readonly delivering: Delivering
  readonly filing: Filing
  readonly anchoring: Anchoring
  readonly ledgers: Ledgers
  readonly contentSigning: ContentSigning
  readonly sharing: Sharing
  readonly fleetChanges: FleetChanges
  readonly tracing: Tracing | undefined
}

interface Parts {
  readonly config: Config
  readonly logger: Logger
  readonly engine: Engine
  readonly domains: Domains
  readonly access: Access
  readonly live: LiveParts
  readonly fetching: Fetching
  readonly transfers: Transfers
  readonly backing: BackingUp
  readonly delivering: Delivering
  readonly notifying: Notifying
  readonly filing: Filing
  readonly anchoring: Anchoring
  readonly ledgers: Ledgers
  readonly contentSigning: ContentSigning
  readonly sharing: Sharing
  readonly fleetChanges: FleetChanges
  readonly unrouted: UnroutedMessages
  readonly tracing: Tracing | undefined
  readonly certificate: Certificate | undefined
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

export async function startFronts(
  engine: Engine,
  given: { readonly config: Config; readonly logger: Logger },
): Promise<Fronts> {
  const parts = await openParts(engine, given)
  const { config, access, domains, fetching, transfers, backing, delivering, filing } = parts
  const { anchoring, ledgers, contentSigning, sharing, fleetChanges } = parts
  const { auth } = access
  // Nodes are asked while everything else starts.
  const ledgersSeen = ledgers.start()
  await forgetDeletedUsers(engine.state, engine.mqttSessions.sessions)
  await forgetEndedDevices(engine.state, engine.mqttSessions.sessions)
  const mqtt = await startMqtt(parts)
  watchEnds(parts, mqtt)
  if (mqtt) access.lastSeen.watch(() => mqtt.activeDevices())
  const http = await startHttp(parts, mqtt)
  await fetching.running.start()
  await transfers.start()
  filing.start()
  await ledgersSeen
  await anchoring.start()
  contentSigning.start()
  sharing.start()
  fleetChanges.wake()
  const keptUs = config.deliveriesKeptUs
  const { onFailure } = parts
  const alerting = startAlerting(engine, { mqtt, ...domains, keptUs, onFailure })
  const purges = startPurging(parts, alerting)
  const timers = { alerting, purges, relay: startRelay(parts) }
  const { backups } = backing
  return {
    http,
    mqtt,
    auth,
    ...timers,
    fetching,
    transfers,
    backups,
    delivering,
    filing,
    anchoring,
    ledgers,
    contentSigning,
    sharing,
    fleetChanges,
    tracing: parts.tracing,
  }
}

async function openParts(
  engine: Engine,
  { config, logger }: { readonly config: Config; readonly logger: Logger },
): Promise<Parts> {
  const onFailure = (error: unknown) => logger.error({ err: error }, 'unexpected failure')
  const store = await openFileStore({
    address: config.filesAddress,
    folder: engine.folder.files,
    clock: systemClock,
    spareBytes: config.diskBytesMin,
    clearsLeftovers: true,
  })
  const access = await openAccess(
    {
      ...engine,
      store,
      writer: engine.worker,
      clock: systemClock,
      onFailure,
      forgetUser: (userId) => engine.mqttSessions.sessions.forgetUser(userId),
    },
    config,
  )
  const cipher = access.auth.masterKey
  const domains = openDomains(engine, config, cipher)
  const filing = openFiling({ engine, config, logger, store, access, domains })
  const { audit } = access
  const live = openLive(engine, { logger, sessions: access.auth.sessions })
  const delivering = await openDelivering(engine, { config, cipher, audit })
  const signing = { domains, logger, masterKey: cipher, audit }
  const contentSigning = await openContentSigning(engine, signing)
  return {
    config,
    logger,
    engine,
    onFailure,
    certificate: config.tls && readCertificate(config.tls),
    domains,
    access,
    filing,
    anchoring: openAnchoring(engine, { ...domains, config, logger, cipher, contentSigning }),
    ledgers: await openLedgers(engine, { ...config, cipher, onFailure }),
    contentSigning,
    sharing: openSharing(engine, { audit: access.audit, onFailure }),
    fleetChanges: openFleetChanges(engine, domains, {
      endStream: (id) => live.tails.endStream(id),
      onFailure,
    }),
    live,
    fetching: openFetching({ engine, config, cipher, logger, onFailure }),
    transfers: openTransfers({ engine, domains, config, logger }),
    backing: await openBackups(engine, { config, logger, unused: filing.unused }),
    delivering,
    notifying: openNotifying(engine, { ...config, ...delivering }),
    unrouted: new UnroutedMessages(() => systemClock.nowUs()),
    tracing: await startTracing(config.tracing, logger),
  }
}

/** Has everything end that goes on for a key, a user or a stream, together with it. */
function watchEnds(parts: Parts, mqtt: MqttBroker | undefined): void {
  const { engine, access, live, fetching, unrouted, fleetChanges, onFailure } = parts
  const { directory, limitedKeys } = access.auth
  const { sessions } = engine.mqttSessions
  directory.onEnd((keyId) => {
    mqtt?.endSessionsOfKey(keyId)
    live.tails.endKey(keyId)
  })
  engine.departures.onDeparture((id) => mqtt?.forgetStream(id))
  limitedKeys.onEnd((keyId) => {
    mqtt?.endSessionsOfKey(keyId)
    // What keeps it from being written down is met at the next start.
    forgetEndedDevices(engine.state, sessions, keyId).catch(onFailure)
  })
  limitedKeys.onUserEnd((userId) => {
    mqtt?.endSessionsOfUser(userId)
    unrouted.forget(userId)
    fetching.running.wakeUser(userId)
    fetching.hooks.directory.clear()
    fleetChanges.wake()
  })
}

/** Removes what was remembered of requests with an Idempotency-Key when it has expired. */
function startPurging(parts: Parts, alerting: AlertingUpkeep): PurgeTimer {
  const { engine, access, domains, transfers, delivering, notifying, onFailure } = parts
  return new PurgeTimer(
    [
      () => access.answers.purge(systemClock.steadyUs()),
      () => domains.receiptStore.purge(systemClock.steadyUs()),
      () => engine.mqttSessions.sessions.purge(),
      () => transfers.exportJobs.purge(),
      () => transfers.importJobs.purge(),
      ...delivering.purges,
      ...notifying.purges,
      alerting.purge,
    ],
    onFailure,
  )
}

function startRelay({ engine, domains, onFailure }: Parts): Relay<PendingEvent> {
  return startLifecycleRelay({
    events: engine.lifecycle,
    intake: engine.intake,
    findStream: (id) => domains.directory.find(id),
    assertReady: () => engine.commits.assertReady(),
    onFailure,
  })
}

async function startMqtt(parts: Parts): Promise<MqttBroker | undefined> {
  const { config, logger, engine, domains, access, onFailure } = parts
  if (config.mqttPort === 0 && config.mqttsPort === 0 && !config.mqttWebSocket) return undefined
  return await connectors.mqttBroker(mqttEndpoints(parts), {
    intake: engine.intake,
    streams: domains.directory,
    topics: domains.topics,
    devices: domains.fleetDevices,
    listeners: engine.listeners,
    callerOfKey: mqttCallerOfKey(access.auth),
    kept: engine.mqttSessions.sessions,
    ...mqttAuthentication(access.auth),
    connectionLimits: config.mqttConnections,
    droppedPublishes: access.auth.droppedPublishes,
    unrouted: parts.unrouted,
    nowUs: () => systemClock.nowUs(),
    assertReady: () => engine.assertReady(),
    isReady: () => engine.commits.failure === undefined,
    onFailure,
    onClientError: (clientId, error) =>
      logger.debug({ clientId, reason: error.message }, 'an MQTT client failed'),
  })
}

function mqttEndpoints({ config, certificate }: Parts): MqttEndpoints {
  const { host, mqttPort, mqttsPort, requiresClientCertificate } = config
  const isSecure = certificate !== undefined && mqttsPort !== 0
  return {
    host,
    port: mqttPort,
    ...(isSecure && { secure: { port: mqttsPort, requiresClientCertificate, ...certificate } }),
  }
}

/** The broker at the HTTP port. */
function mqttWebSocket({ mqttWebSocket: isOn, corsOrigins }: Config, mqtt: MqttBroker | undefined) {
  if (!isOn || mqtt === undefined) return []
  return [connectors.mqttWebSocket({ accept: mqtt.accept, corsOrigins })]
}

/** How clients reach the broker. */
function waysTo({ mqttWebSocket: isOn }: Config, mqtt: MqttBroker | undefined) {
  const hasWebSocket = isOn && mqtt !== undefined
  return { port: mqtt?.port, securePort: mqtt?.securePort, hasWebSocket }
}

/** Everything that needs credentials. */
function routesOf(
  parts: Parts,
  { mqtt, signingIn }: { readonly mqtt: MqttBroker | undefined; readonly signingIn: SigningIn },
): readonly GuardedRoutes[] {
  const { config, engine, domains, access, live, fetching } = parts
  const { transfers, backing, delivering, notifying, filing, contentSigning, sharing } = parts
  const { anchoring, ledgers } = parts
  const { posts } = access
  return [
    ...access.routes,
    ...signingIn.routes,
    backing.routes(posts),
    ...delivering.routes(posts),
    ...ledgers.routes(() => anchoring.degraded()),
    ...contentSigning.routes(posts),
    ...alertingRoutes({ ...domains, engine, audit: access.audit, posts }),
    ...notifyingRoutes({ ...notifying, notified: engine.notified, live, posts }),
    ...registeringRoutes(access.devices, domains),
    (callerOf) => mqttSessionRoutes({ sessions: mqtt?.sessions, posts, callerOf }),
    ...guardedRoutes({
      ...config,
      ...domains,
      ...transfers,
      ...access,
      ...filing,
      onReleased: () => filing.unused.wake(),
      engine,
      posts,
      live,
      sources: fetching.changes,
      keysOfVault: access.devices,
      sharing,
      fleetChanges: parts.fleetChanges,
      unrouted: parts.unrouted,
    }),
  ]
}

async function startHttp(parts: Parts, mqtt: MqttBroker | undefined): Promise<FastifyInstance> {
  const { config, logger, engine, access, fetching, certificate, onFailure } = parts
  const { delivering, filing, anchoring, ledgers, contentSigning } = parts
  const bodies = new BodiesInFlight()
  const broker = waysTo(config, mqtt)
  const { state, worker: writer } = engine
  const signingIn = await openSigningIn({ config, state, writer, access, broker })
  const http = await buildHttpServer({
    logger,
    version: productVersion(),
    publicUrl: config.publicUrl,
    checkAnswers: config.checkAnswers,
    network: { ...config, certificate },
    authenticator: access.auth.authenticator,
    cookies: signingIn.cookies,
    bodies,
    tracing: parts.tracing,
    openRoutes: [
      ...access.openRoutes,
      ...signingIn.openRoutes,
      ...delivering.openRoutes,
      ...filing.openRoutes,
      ...anchoring.openRoutes,
      ...contentSigning.openRoutes,
      healthRoutes({
        failingParts: () => failingParts(engine),
        degradedParts: async () => ({ ...(await anchoring.degraded()), ...ledgers.problems() }),
      }),
      connectors.influxPing,
      ...mqttWebSocket(config, mqtt),
      asyncApiRoutes({ version: productVersion(), ...config, broker }),
      consoleRoutes({ files: new ConsoleFiles() }),
      metricsRoutes(serviceMetrics({ ...measuredParts(parts), mqtt, bodies })),
    ],
    signedRoutes: [fetching.hooks.route, ...filing.signedRoutes],
    routes: routesOf(parts, { mqtt, signingIn }),
  })
  await http.ready()
  http.server.listen(config.httpPort, config.host)
  await once(http.server, 'listening')
  // The system may be unable to accept a connection: for want of memory, or of files that may be open.
  http.server.on('error', onFailure)
  return http
}
