import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { commandIn, type FolderImage } from '../../scripts/image/folder-image.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { adminKey, adminSecret } from './service-process.ts'

type Settings = Readonly<Record<string, string>>

/** A service out of a folder image: as its user, in a tree that nobody can write to, with a volume. */
export class ImageProcess implements AsyncDisposable {
  readonly http: string
  readonly #image: FolderImage
  readonly #data: string
  readonly #settings: Settings
  readonly #child: ChildProcess
  #printed = ''

  /** @param data a folder that is made */
  static async start(image: FolderImage, data: string, own: Settings = {}): Promise<ImageProcess> {
    const [uid = 0, gid = 0] = image.user.split(':').map(Number)
    mkdirSync(data)
    chownSync(data, uid, gid)
    const settings = {
      ...image.env,
      STREAMVAULT_HOST: '127.0.0.1',
      STREAMVAULT_HTTP_PORT: String(await freePort()),
      STREAMVAULT_MQTT_PORT: String(await freePort()),
      STREAMVAULT_ADMIN_KEY: adminKey,
      STREAMVAULT_ADMIN_SECRET: adminSecret,
      ...own,
    }
    const service = new ImageProcess(image, data, settings)
    await service.#listening()
    return service
  }

  private constructor(image: FolderImage, data: string, settings: Settings) {
    this.#image = image
    this.#data = data
    this.#settings = settings
    this.http = `http://127.0.0.1:${settings['STREAMVAULT_HTTP_PORT']}`
    const [program = '', ...words] = this.#words([...image.entrypoint, ...image.cmd])
    this.#child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    const note = (chunk: Buffer) => (this.#printed += chunk.toString())
    this.#child.stdout?.on('data', note)
    this.#child.stderr?.on('data', note)
  }

  /** The user that it runs as. */
  get user(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
  }

  /** Exit code of the health check in the same container. */
  health(): number | null {
    const [program = '', ...words] = this.#words(this.#image.healthcheck)
    return spawnSync(program, words).status
  }

  /** What a command in the same container prints. */
  said(...command: readonly string[]): string {
    const [program = '', ...words] = this.#words(command)
    const { stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' })
    return (stderr + stdout).trim()
  }

  /** Resolves with its exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode
    this.#child.kill('SIGTERM')
    const [code] = (await once(this.#child, 'close')) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #words(command: readonly string[]): readonly string[] {
    const [volume = '/data'] = this.#image.volumes
    const confinement = { ...this.#image, env: this.#settings, volumes: { [volume]: this.#data } }
    return commandIn(confinement, command)
  }

  async #listening(): Promise<void> {
    const deadline = AbortSignal.timeout(120_000)
    while (!/listening/.test(this.#printed)) {
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.#printed}`)
      await Promise.race([
        once(this.#child.stdout as NonNullable<ChildProcess['stdout']>, 'data', {
          signal: deadline,
        }),
        once(this.#child, 'exit', { signal: deadline }),
      ])
    }
  }
}
