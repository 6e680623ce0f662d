import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** What can be asked of a sandbox: to put something on it and wait for that, only to send it, or to look for it. */
export interface SandboxDeed {
  readonly what: 'put' | 'send' | 'find'
  readonly intent: string
}

export interface SandboxOutcome {
  readonly hash?: string
  /** What the ledger has said to it. */
  readonly is?: string
  readonly height?: number
  readonly blockHash?: string
  readonly failure?: string
}

/** A sandbox in a process of its own: its disk can fail, and it can be killed. */
export class SandboxProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  static async start(
    folder: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<SandboxProcess> {
    const path = new URL('sandbox-child.ts', import.meta.url).pathname
    const child = fork(path, [folder], { env: { ...process.env, ...environment } })
    const started = new SandboxProcess(child)
    await once(child, 'message')
    return started
  }

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Undefined when it was killed before it has answered. */
  async perform(deed: SandboxDeed): Promise<SandboxOutcome | undefined> {
    const gone = Promise.withResolvers<undefined>()
    const leave = () => gone.resolve(undefined)
    this.#child.once('exit', leave)
    const answered = once(this.#child, 'message') as Promise<[SandboxOutcome]>
    this.#child.send(deed, () => undefined)
    const outcome = await Promise.race([answered, gone.promise])
    this.#child.off('exit', leave)
    return outcome?.[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    if (this.#child.kill('SIGKILL')) await ended
  }
}
