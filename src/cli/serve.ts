import type { Logger } from 'pino'
import { type Config, ConfigError, readConfig, readSettings } from '../config/config.ts'
import { idleSettings } from '../config/idle-settings.ts'
import { sentenceOf, unknownSettings } from '../config/unknown-settings.ts'
import { race } from '../core/race.ts'
import { type Hide, hiding } from '../operating/observability/hidden-addresses.ts'
import { createLogger, isForPeople } from '../operating/observability/logger.ts'
import type { Service } from '../processes/network/app.ts'
import { awaitRoom, hasRoomToStart } from './await-room.ts'
import { type Command, CommandError, exitCodes } from './command.ts'
import { onStopSignals } from './stop-signals.ts'
import { Stopping } from './stopping.ts'
import { UnexpectedErrors } from './unexpected-errors.ts'

async function run(isJson: boolean): Promise<never> {
  const config = readConfig(process.env)
  const logger = createLogger(config.log, hidingNodes(config))
  const unexpected = new UnexpectedErrors(logger)
  // Node prints warnings; that no one reads them is no reason to stop.
  process.stderr.on('error', () => undefined)
  warnOfIdleSettings(logger)
  const starting = import('../processes/network/app.ts').then(({ startService }) =>
    startService(config, logger),
  )
  const stopping = new Stopping(starting, logger)
  // Before there is anything that has to be closed.
  const { bySignal: stop, atOnce } = stopping
  if (config.tls === undefined) onStopSignals({ stop, atOnce })
  else {
    onStopSignals({ stop, atOnce, except: ['SIGHUP'] })
    reloadOnSignal(starting, logger)
  }
  const service = await race([starting, unexpected.first]).catch((error: unknown) =>
    afterRefusedStart(error, config, logger),
  )
  service.failed.catch(unexpected.report)
  if (service.adminFile !== undefined && !isForPeople(config.log)) {
    logger.info({ file: service.adminFile }, 'the bootstrap key is in this file')
  }
  if (!stopping.isUnderWay) announce(service, { config, logger, isJson })
  try {
    return await unexpected.first
  } catch (error) {
    await stopping.afterFailure()
    throw error
  }
}

/** Addresses of nodes may hold tokens, wherever these were put. */
function hidingNodes({ ledgers }: Pick<Config, 'ledgers'>): Hide {
  return hiding(ledgers.flatMap(({ endpoints }) => endpoints))
}

/**
 * A start that failed for want of room is made again once there is some. The program starts again as the same process:
 * what the failed start has left in its threads is gone.
 *
 * @throws the error, when it has another reason
 */
async function afterRefusedStart(error: unknown, config: Config, logger: Logger): Promise<never> {
  if (hasRoomToStart(config.dataDir)) throw error
  logger.error({ err: error }, 'the service cannot start on a full disk')
  await awaitRoom(config, logger)
  const { execPath, execArgv, argv, env } = process
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], env)
  throw new Error('there is room again, but the program cannot be started again', { cause: error })
}

/** What has no effect is no reason not to start: a newer version, or a program beside this one, may read it. */
function warnOfIdleSettings(logger: Logger): void {
  const { config, known } = readSettings(process.env)
  for (const sentence of idleSettings(process.env, config)) logger.warn(sentence)
  for (const setting of unknownSettings(process.env, known)) {
    const page = setting.nearest === undefined ? ': docs/operations.md lists all settings' : ''
    logger.warn(setting, `unknown setting ${sentenceOf(setting)}${page}`)
  }
}

interface Announcing {
  readonly config: Config
  readonly logger: Logger
  readonly isJson: boolean
}

/** Others wait for this line, so it is printed whatever the log level is. */
function announce(service: Service, { config, logger, isJson }: Announcing): void {
  // A reader that has waited for the line may not read on.
  process.stdout.on('error', () => undefined)
  const { httpAddress, mqttAddress, mqttsAddress } = service
  const mqtts = mqttsAddress !== undefined && { mqtts: mqttsAddress }
  const addresses = { http: httpAddress, mqtt: mqttAddress ?? 'off', ...mqtts }
  if (isJson && !logger.isLevelEnabled('info')) {
    process.stdout.write(`${JSON.stringify({ ...addresses, msg: 'listening' })}\n`)
  } else if (isForPeople(config.log) && !isJson) process.stdout.write(welcomeOf(service))
  else if (logger.isLevelEnabled('info')) logger.info(addresses, 'listening')
  else process.stdout.write(`listening ${addresses.http} ${addresses.mqtt}\n`)
}

/** Where everything is, and what to do next. */
function welcomeOf({ httpAddress, mqttAddress, mqttsAddress, adminFile }: Service): string {
  const rows = [
    ['console', `${httpAddress}/`],
    ['API', `${httpAddress}/docs`],
    ['MQTT', mqttAddress ?? (mqttsAddress === undefined ? 'off' : '')],
    ['MQTT over TLS', mqttsAddress ?? ''],
    ['key', adminFile ?? 'that of STREAMVAULT_ADMIN_KEY'],
  ].filter(([, value]) => value !== '')
  const lines = rows.map(([name = '', value]) => `  ${name.padEnd(14)} ${value}`)
  const next = 'Next, in another terminal: npx streamvault simulate'
  return [
    'listening',
    '',
    ...lines,
    '',
    `${next} (or sign in to the console). Ctrl-C ends it.`,
    '',
    '',
  ].join('\n')
}

/**
 * A certificate that was renewed is put to use without a restart. A service that is still starting may have read the
 * old one already, and does so as soon as it listens.
 */
function reloadOnSignal(starting: Promise<Service>, logger: Logger): void {
  const reload = (service: Service) => {
    try {
      service.reloadCertificate()
      logger.info('the certificate was read again')
    } catch (error) {
      logger.error({ err: error }, 'the certificate cannot be used: the old one stays in use')
    }
  }
  process.on('SIGHUP', () => {
    // Others report a start that has failed.
    starting.then(reload, () => undefined)
  })
}

/** Runs the service until it is stopped, or cannot go on. */
export const serve: Command = {
  name: 'serve',
  summary: 'Run the service until it is stopped.',
  description:
    'Prints `listening` with its addresses when it accepts readings. Its log is text in a terminal, else JSON. ' +
    '`npm start` does the same.',
  operands: [],
  options: [],
  async run({ isJson }) {
    try {
      return await run(isJson)
    } catch (error) {
      // Threads may still be running, after a failed start for one: all that was acknowledged is on disk.
      process.exitCode = exitCodes.failed
      setImmediate(() => process.exit())
      if (error instanceof ConfigError) throw error
      const { config } = readSettings(process.env)
      const { reasonOfRefusal } = await import('../operating/doctor/refused-start.ts')
      const message = `cannot go on: ${hidingNodes(config)(reasonOfRefusal(error, config))}`
      throw new CommandError('cannot_go_on', message, { cause: error })
    }
  },
}
