import type { Logger } from 'pino'
import { type Config, ConfigError, readConfig, readSettings } from '../config/config.ts'
import { idleSettings } from '../config/idle-settings.ts'
import { sentenceOf, unknownSettings } from '../config/unknown-settings.ts'
import { messageOf } from '../core/errors.ts'
import { race } from '../core/race.ts'
import { type Hide, hiding } from '../operating/observability/hidden-addresses.ts'
import { createLogger } from '../operating/observability/logger.ts'
import type { Service } from '../processes/network/app.ts'
import { awaitRoom, hasRoomToStart } from './await-room.ts'
import { type Command, CommandError, exitCodes } from './command.ts'
import { onStopSignals } from './stop-signals.ts'
import { Stopping } from './stopping.ts'
import { UnexpectedErrors } from './unexpected-errors.ts'

async function run(isJson: boolean): Promise<never> {
  const config = readConfig(process.env)
  const logger = createLogger(config.logLevel, hidingNodes(config))
  const unexpected = new UnexpectedErrors(logger)
  // Node has warnings to say; that nobody reads them is no reason to stop.
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
  if (service.adminFile !== undefined) {
    logger.info({ file: service.adminFile }, 'the bootstrap key is in this file')
  }
  announce(service, logger, isJson)
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
 * A start that failed for want of room is made again once there is some. The program begins anew as the same process:
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
  throw new Error('there is room again, but the program cannot be started anew', { cause: error })
}

/** What has no effect is no reason not to start: a newer version, or a program beside this one, may read it. */
function warnOfIdleSettings(logger: Logger): void {
  const { config, known } = readSettings(process.env)
  for (const sentence of idleSettings(process.env, config)) logger.warn(sentence)
  for (const setting of unknownSettings(process.env, known)) {
    logger.warn(setting, `nobody reads the setting ${sentenceOf(setting)}`)
  }
}

/** Others wait for this line, so it is printed whatever the log level is. */
function announce(service: Service, logger: Logger, isJson: boolean): void {
  // A reader that has waited for the line may not read on.
  process.stdout.on('error', () => undefined)
  const { httpAddress, mqttAddress, mqttsAddress } = service
  const mqtts = mqttsAddress !== undefined && { mqtts: mqttsAddress }
  const addresses = { http: httpAddress, mqtt: mqttAddress ?? 'off', ...mqtts }
  if (logger.isLevelEnabled('info')) logger.info(addresses, 'listening')
  else if (isJson) process.stdout.write(`${JSON.stringify({ ...addresses, msg: 'listening' })}\n`)
  else process.stdout.write(`listening ${addresses.http} ${addresses.mqtt}\n`)
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
      logger.error({ err: error }, 'the certificate is no good: the old one stays in use')
    }
  }
  process.on('SIGHUP', () => {
    // Others tell of a start that has failed.
    starting.then(reload, () => undefined)
  })
}

/** Runs the service until it is told to stop, or cannot go on. */
export const serve: Command = {
  name: 'serve',
  summary: 'Run the service until it is told to stop.',
  description:
    'Prints `listening` with its addresses when it takes readings; its log is JSON in any case. ' +
    '`npm start` does the same.',
  operands: [],
  options: [],
  async run({ isJson }) {
    try {
      return await run(isJson)
    } catch (error) {
      // Threads may still be running, after a failed start for one: whatever was acknowledged is on disk.
      process.exitCode = exitCodes.failed
      setImmediate(() => process.exit())
      if (error instanceof ConfigError) throw error
      const hide = hidingNodes(readSettings(process.env).config)
      const message = `cannot go on: ${hide(messageOf(error))}`
      throw new CommandError('cannot_go_on', message, { cause: error })
    }
  },
}
