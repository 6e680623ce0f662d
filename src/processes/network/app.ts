import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type Config, urlHost } from '../../config/config.ts'
import { readCertificate } from '../../config/tls-files.ts'
import { allOf, takeAllSteps } from '../../core/all-steps.ts'
import { race } from '../../core/race.ts'
import { noteAbsence } from './alerting.ts'
import { startEngine } from './engine.ts'
import type { Fronts } from './fronts.ts'

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
  /** How many entries the journal has taken since the start. */
  taken(): Promise<number>
  /** Rejects when a thread has had an error that nothing was waiting for: the service should be closed. */
  readonly failed: Promise<never>
  /**
   * Reads certificate and key again, for new connections over TLS.
   *
   * @throws Error when they are no good: the old ones stay in use
   */
  reloadCertificate(): void
  /**
   * Stops taking, keeps what was taken, and releases the data folder, whatever fails of it.
   *
   * @throws the first failure, once all was tried
   */
  close(): Promise<void>
}

/**
 * Composition root: the engine keeps and processes readings (`engine.ts`), the domains stand on it
 * (`domains.ts`), and the fronts are what others talk to (`fronts.ts`, `routes.ts`, `access.ts`).
 */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const starting = startEngine(config, (error) =>
    logger.error({ err: error }, 'a message could not be handled: it is in the quarantine'),
  )
  // Most modules belong to the fronts: they are loaded while the engine's threads open their files.
  const [engine, { startFronts }] = await Promise.all([starting, import('./fronts.ts')])
  await noteAbsence(engine)
  const fronts = await startFronts(engine, { config, logger })
  const { http, mqtt, auth, purges, relay, fetching, transfers, backups, delivering, filing } =
    fronts
  const { anchoring, ledgers, contentSigning, sharing, fleetChanges, tracing } = fronts
  const addresses = addressesOf(config, { http, mqtt })
  engine.folder.announce(Object.values(addresses))
  const { journal } = engine
  const { head } = await journal.status()
  return {
    ...addresses,
    taken: async () => (await journal.status()).head - head,
    adminFile: auth.adminFile,
    failed: race([
      engine.journal.failed,
      engine.worker.failed,
      engine.mqttSessions.failed,
      delivering.failed,
      anchoring.failed,
    ]),
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
      await takeAllSteps([
        () => fronts.alerting.stop(),
        () => allOf([mqtt?.close(), closeHttp(http), fetching.running.stop()]),
        () => allOf([backups.close(), relay.stop(), transfers.stop(), delivering.stop()]),
        () => allOf([filing.stop(), contentSigning.stop(), anchoring.stop(), sharing.stop()]),
        () => fleetChanges.stop(),
        () => allOf([ledgers.stop(), tracing?.stop()]),
        () => engine.commits.drain(),
        () => purges.stop(),
        () => auth.close(),
        () => engine.close(),
      ])
    },
  }
}

type Addresses = Pick<Service, 'httpAddress' | 'mqttAddress' | 'mqttsAddress'>

function addressesOf(config: Config, { http, mqtt }: Pick<Fronts, 'http' | 'mqtt'>): Addresses {
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
