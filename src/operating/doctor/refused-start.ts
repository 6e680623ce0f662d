import type { Config } from '../../config/config.ts'
import { FolderInUse } from '../../config/data-folder.ts'
import { messageOf } from '../../core/errors.ts'
import { NoPlaceForFolder } from '../../core/make-folder.ts'
import { checkFolder } from './folder-checks.ts'
import { refusedPort } from './network-checks.ts'

/** Codes of Node for a folder or file that nobody gets into as it is. */
const folderCodes = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT']

/** Why a start was refused, in one sentence with what to do, as the doctor would say it. */
export function reasonOfRefusal(error: unknown, config: Config): string {
  const said = messageOf(error)
  if (error instanceof FolderInUse) {
    return `${said}; end that one, or set STREAMVAULT_DATA_DIR to another folder`
  }
  if (error instanceof NoPlaceForFolder) {
    return `${said}; set STREAMVAULT_DATA_DIR to a folder on a disk`
  }
  const found = portOf(error, config) ?? folderOf(error, config)
  if (found?.status === 'fail') return `${found.message}; ${found.advice}`
  if (!isOfOpening(error)) return said
  const { dataDir } = config
  return `${said}; let the user who runs the service read and write every file in ${dataDir}: chown -R`
}

/** Whether SQLite was not let at a file, which it does not name (https://sqlite.org/rescode.html: READONLY, CANTOPEN). */
function isOfOpening(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown }
  return typeof errcode === 'number' && [8, 14].includes(errcode & 0xff)
}

function portOf(error: unknown, { host, httpPort, mqttPort, mqttsPort }: Config) {
  const { syscall, port } = error as NodeJS.ErrnoException & { readonly port?: number }
  const isOfListening = syscall === 'listen' || syscall === 'getaddrinfo'
  if (!(error instanceof Error) || !isOfListening) return undefined
  const settings = [
    [httpPort, 'STREAMVAULT_HTTP_PORT'],
    [mqttPort, 'STREAMVAULT_MQTT_PORT'],
    [mqttsPort, 'STREAMVAULT_MQTTS_PORT'],
  ] as const
  const [, setting] = settings.find(([one]) => one === port) ?? settings[0]
  return refusedPort({ name: 'port', setting, host, port: port ?? httpPort }, error)
}

function folderOf(error: unknown, config: Pick<Config, 'dataDir'>) {
  const { code = '' } = error as NodeJS.ErrnoException
  return folderCodes.includes(code) || isOfOpening(error) ? checkFolder({ config }) : undefined
}
