import { type ChildProcess, spawnSync } from 'node:child_process'

/** A server that was started, as it stands in FOLDER/NAME.json. */
export interface Running {
  readonly url: string
  /** None: it runs in a container. */
  readonly pid?: number
}

/** A server that `npm run servers` can bring up. */
export interface DevelopmentServer {
  /** What the setting is called that says where it is. */
  readonly variable: string
  /** What there has to be before it can run; undefined where all of it is there. */
  readonly missing: () => string | undefined
  /** Starts it, so that it goes on when this process ends, with what it had stored in the folder. */
  readonly start: (folder: string, port: number) => Promise<Running>
  /** Downloads what it needs, where a package of the system does not have it. */
  readonly fetch?: () => Promise<void>
  /** What ends it in good order, where that is not SIGTERM. */
  readonly stopSignal?: NodeJS.Signals
}

/** @throws Error when it has no process id: it was not started */
export function runningAt(url: string, { pid }: Pick<ChildProcess, 'pid'>): Running {
  if (pid === undefined) throw new Error(`what should be at ${url} was not started`)
  return { url, pid }
}

export function urlWith(
  protocol: string,
  { username, password }: { readonly username: string; readonly password: string },
  rest: string,
): string {
  return `${protocol}://${username}:${password}@${rest}`
}

export function hasProgram(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}
