import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/servers/free-port.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** Where scripts/install-test-tools puts it. */
const cached = join(homedir(), '.cache', 'streamvault-test-tools', 'bin', 'versitygw')
const program = existsSync(cached) ? cached : 'versitygw'
const isThere = spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

/**
 * Whether this machine lacks an object store, for `describe.skipIf`. In CI that is an error of each test
 * instead, and elsewhere it is said once.
 */
export const isObjectStoreMissing = !isThere && process.env['CI'] === undefined

if (isObjectStoreMissing) {
  console.warn('skipped: tests with an object store, which `scripts/install-test-tools` installs')
}

const bucketDefault = 'backups'
const startMsMax = 60_000

/** An S3-compatible object store of one test file: versitygw over a folder. */
export class ObjectStore implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  #child: ChildProcess
  readonly #bucket: string
  readonly port: number
  /** What a client has to have in its environment. */
  readonly environment = { AWS_ACCESS_KEY_ID: 'tester', AWS_SECRET_ACCESS_KEY: 'test-secret' }

  static async start(bucket = bucketDefault): Promise<ObjectStore> {
    const store = new ObjectStore(await freePort(), bucket)
    await store.#answers()
    return store
  }

  private constructor(port: number, bucket: string) {
    this.port = port
    this.#bucket = bucket
    mkdirSync(this.file())
    this.#child = this.#spawn()
  }

  /** As the commands take it. */
  address(prefix: string): string {
    return `s3://${this.#bucket}/${prefix}?endpoint=http://127.0.0.1:${this.port}`
  }

  /** The path of an object, or of the bucket. */
  file(key = ''): string {
    return this.#folder.file(join(this.#bucket, key))
  }

  /** Ends it; what is in it stays. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    if (this.#child.kill('SIGKILL')) await ended
  }

  /** Starts it again, at the same port. */
  async resume(): Promise<void> {
    this.#child = this.#spawn()
    await this.#answers()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    this.#folder[Symbol.dispose]()
  }

  #spawn(): ChildProcess {
    const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = this.environment
    const words = ['--port', `127.0.0.1:${this.port}`, '--access', access, '--secret', secret]
    return spawn(program, [...words, 'posix', this.#folder.path], { stdio: 'ignore' })
  }

  async #answers(): Promise<void> {
    const deadlineMs = performance.now() + startMsMax
    while (performance.now() < deadlineMs) {
      const answer = await fetch(`http://127.0.0.1:${this.port}/`).catch(() => undefined)
      if (answer !== undefined) return
      await sleep(50)
    }
    throw new Error('versitygw does not answer')
  }
}
