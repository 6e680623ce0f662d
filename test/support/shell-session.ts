import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const endMark = '-- end of command --'

/** Longest time that commands may take: they are short, and a person would not wait longer. */
const patienceMs = 60_000

/** A shell that keeps its variables from command to command, as that of a person does. */
export class ShellSession {
  readonly #shell: ChildProcessWithoutNullStreams
  readonly #folder: string
  readonly #ended: Promise<unknown>
  #printed = ''
  #complaints = ''
  #listeners = 0

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#folder = folder
    // Settings of the tests are none of a reader's.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('STREAMVAULT_'),
    )
    const env = { ...Object.fromEntries(inherited), ...environment }
    // A group of its own, so that what it has started can be ended with it.
    this.#shell = spawn('bash', { cwd: folder, env, detached: true })
    this.#ended = once(this.#shell, 'close')
    this.#shell.stdout.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()))
    this.#shell.stderr.on('data', (chunk: Buffer) => (this.#complaints += chunk.toString()))
    this.#shell.stdin.write('set -euo pipefail\n')
  }

  /** What commands print. @throws Error when one fails or does not end, with what it complained of */
  async run(commands: string): Promise<string> {
    this.#printed = ''
    this.#shell.stdin.write(`{\n${commands}\n} </dev/null\necho '${endMark}'\n`)
    const tooLong = sleep(patienceMs, true, { ref: false })
    while (!this.#printed.endsWith(`${endMark}\n`)) {
      const hasFailed = await Promise.race([
        once(this.#shell.stdout, 'data').then(() => false),
        this.#ended.then(() => true),
        tooLong,
      ])
      if (hasFailed) throw new Error(`${commands}\nfailed: ${this.#printed}${this.#complaints}`)
    }
    return this.#printed.slice(0, -endMark.length - 1)
  }

  /**
   * Starts a `mosquitto_sub` in the background, and resolves when it has subscribed. What comes back
   * waits for its end, and tells what it has printed.
   */
  async listen(command: string): Promise<() => Promise<string>> {
    const name = `listener-${++this.#listeners}`
    // Its own file of settings makes it say what it does, and line by line we hear of it at once.
    await this.run(
      `mkdir -p ${name} && echo -d > ${name}/mosquitto_sub && : > ${name}/out\n` +
        `( export XDG_CONFIG_HOME=$PWD/${name}\n` +
        'mosquitto_sub() { stdbuf -oL mosquitto_sub "$@"; }\n' +
        `${command}\n) >${name}/out 2>&1 &`,
    )
    const printed = () => readFileSync(join(this.#folder, name, 'out'), 'utf8').split('\n')
    const deadlineMs = performance.now() + patienceMs
    while (!printed().some((line) => line.startsWith('Subscribed'))) {
      if (performance.now() > deadlineMs)
        throw new Error(`no subscription: ${printed().join('\n')}`)
      await sleep(20)
    }
    return async () => {
      await this.run('wait $!')
      return printed()
        .filter((line) => !/^(Client |Subscribed )/.test(line))
        .join('\n')
    }
  }

  /** Starts commands that go on beside the others until the end, and says what they have printed so far. */
  async inBackground(commands: string): Promise<() => string> {
    const name = `background-${++this.#listeners}`
    await this.run(`: > ${name}\n( ${commands}\n) </dev/null >${name} 2>&1 &`)
    return () => readFileSync(join(this.#folder, name), 'utf8')
  }

  async end(): Promise<void> {
    const { pid } = this.#shell
    if (pid !== undefined && this.#shell.exitCode === null) process.kill(-pid, 'SIGKILL')
    await this.#ended
  }
}
