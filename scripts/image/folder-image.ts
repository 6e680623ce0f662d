import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { BuildContext, copyInto } from './build-context.ts'
import { expanded, type Step, stepsOf, wordsOf } from './dockerfile-steps.ts'

/** What the Dockerfile makes, as a folder: what is not in it is in the base image. */
export interface FolderImage {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
  readonly healthcheck: readonly string[]
  readonly volumes: readonly string[]
}

/** What this machine stands in with for the base image. */
const baseFolders = ['usr', 'bin', 'sbin', 'lib', 'lib64', 'etc', 'proc', 'dev']

/** Where a folder image finds the Node that runs this, and the home that npm has its cache in. */
const [nodeFolder, homeFolder] = ['/.base/node', '/.base/home']

/** Variables by which programs here reach registries. */
const network = /^((https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_registry)$/i

interface Stage {
  name: string
  root: string
  env: Record<string, string>
  workdir: string
  user: string
  entrypoint: readonly string[]
  cmd: readonly string[]
  healthcheck: readonly string[]
  volumes: string[]
}

export interface FolderBuildNeeds {
  /** The project. */
  readonly project: string
  /** An empty folder. */
  readonly target: string
  readonly buildArgs: Readonly<Record<string, string>>
  readonly say: (line: string) => void
}

/**
 * Takes the steps of the Dockerfile, one after the other, in folders of this machine. RUN is run in a root of its own, with the
 * system of this machine in place of the base image. Has to be run as root.
 */
export class FolderBuild {
  readonly #needs: FolderBuildNeeds
  readonly #context: BuildContext
  readonly #stages: Stage[] = []
  /** Values of ARG before the first FROM. */
  readonly #global: Record<string, string> = {}

  constructor(needs: FolderBuildNeeds) {
    this.#needs = needs
    this.#context = new BuildContext(needs.project)
  }

  run(): FolderImage {
    const dockerfile = readFileSync(join(this.#needs.project, 'Dockerfile'), 'utf8')
    for (const step of stepsOf(dockerfile)) this.#take(step)
    return this.#stage
  }

  get #stage(): Stage {
    const stage = this.#stages.at(-1)
    if (stage === undefined) throw new Error('the Dockerfile begins without FROM')
    return stage
  }

  #take(step: Step): void {
    const { keyword, text } = step
    const stage = this.#stages.at(-1)
    if (keyword === 'ARG') this.#argument(text)
    else if (keyword === 'FROM') this.#begin(text)
    else if (keyword === 'COPY') this.#copy(step)
    else if (keyword === 'RUN') this.#run(text)
    else if (keyword === 'ENV') Object.assign(this.#stage.env, this.#assignments(text))
    else if (keyword === 'WORKDIR') {
      this.#stage.workdir = text
      mkdirSync(join(this.#stage.root, text), { recursive: true })
    } else if (keyword === 'USER') this.#stage.user = text
    else if (keyword === 'VOLUME') this.#stage.volumes.push(...wordsOf(text))
    else if (keyword === 'ENTRYPOINT') this.#stage.entrypoint = wordsOf(text)
    else if (keyword === 'CMD') this.#stage.cmd = wordsOf(text)
    else if (keyword === 'HEALTHCHECK') this.#stage.healthcheck = wordsOf(text.replace('CMD ', ''))
    else if (stage === undefined || !['EXPOSE', 'STOPSIGNAL', 'LABEL'].includes(keyword)) {
      throw new Error(`${keyword} ${text}: this instruction is not known here`)
    }
  }

  #argument(text: string): void {
    const [name = '', value = ''] = text.split('=')
    const given = this.#needs.buildArgs[name] ?? value.replaceAll('"', '')
    if (this.#stages.length === 0) this.#global[name] = given
    else this.#stage.env[name] = given
  }

  #begin(text: string): void {
    const [image = '', , name = `stage-${this.#stages.length}`] = wordsOf(
      expanded(text, this.#global),
    )
    this.#needs.say(`FROM ${image} (this machine stands in for it)`)
    const root = join(this.#needs.target, name)
    mkdirSync(root, { recursive: true })
    this.#stages.push({
      name,
      root,
      env: { PATH: `${nodeFolder}:/usr/local/bin:/usr/bin:/bin` },
      workdir: '/',
      user: '0:0',
      entrypoint: [],
      cmd: [],
      healthcheck: [],
      volumes: [],
    })
  }

  #assignments(text: string): Record<string, string> {
    const pairs = wordsOf(expanded(text, this.#stage.env)).map((word) => {
      const at = word.indexOf('=')
      return [word.slice(0, at), word.slice(at + 1)]
    })
    return Object.fromEntries(pairs)
  }

  #copy({ flags, text }: Step): void {
    this.#needs.say(`COPY ${text}`)
    const { root, workdir } = this.#stage
    const words = wordsOf(text)
    const [target = '', sources] = [words.at(-1), words.slice(0, -1)]
    const path = join(root, target.startsWith('/') ? target : join(workdir, target))
    for (const source of sources) {
      if (flags['from'] === undefined) this.#context.copy(source, path)
      else copyInto(join(this.#rootOf(flags['from']), source), path)
    }
    const [uid, gid] = (flags['chown'] ?? '').split(':').map(Number)
    if (uid && gid) {
      for (const one of ['', ...globSync('**', { cwd: path })])
        lchownSync(join(path, one), uid, gid)
    }
  }

  #rootOf(stage: string): string {
    const found = this.#stages.find(({ name }) => name === stage)
    if (found === undefined) throw new Error(`there is no stage ${stage}`)
    return found.root
  }

  #run(text: string): void {
    this.#needs.say(`RUN ${text}`)
    const { root, workdir, env } = this.#stage
    const inherited = Object.entries(process.env).filter(([name]) => network.test(name))
    const variables = { ...(Object.fromEntries(inherited) as typeof env), HOME: homeFolder, ...env }
    const words = commandIn({ root, env: variables, workdir, user: '0:0' }, ['sh', '-c', text])
    const { status } = spawnSync(words[0] ?? '', words.slice(1), { stdio: ['ignore', 2, 2] })
    removeBase(root)
    if (status !== 0) throw new Error(`RUN ${text}: ended with ${status}`)
  }
}

export interface Confinement extends Pick<FolderImage, 'root' | 'env' | 'workdir' | 'user'> {
  /** Folders of this machine, by their paths inside. Nothing else can be written to. Undefined: everything can. */
  readonly volumes?: Readonly<Record<string, string>>
}

/**
 * The words of a command that becomes a program in a root of its own, as the same process. What is mounted for it is seen by
 * nobody else, and ends with it.
 */
export function commandIn(
  { root, env, workdir, user, volumes }: Confinement,
  program: readonly string[],
): readonly string[] {
  const mounts = prepareBase(root).map(
    ([from, to]) => `mount --rbind ${quoted(from)} ${quoted(to)}`,
  )
  const writable = Object.entries(volumes ?? {}).map(([path, folder]) => {
    mkdirSync(join(root, path), { recursive: true })
    return `mount --bind ${quoted(folder)} ${quoted(join(root, path))}`
  })
  const script = [
    'set -e',
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    ...(volumes ? [`mount -o remount,bind,ro ${quoted(root)}`] : []),
    ...mounts,
    ...writable,
    `exec chroot --userspec=${user} ${quoted(root)} "$@"`,
  ]
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const inside = ['env', '-i', `--chdir=${workdir}`, ...variables, ...program]
  return ['unshare', '--mount', 'sh', '-c', script.join('\n'), 'sh', ...inside]
}

/** Makes the places for the base, and returns what has to be mounted where. */
function prepareBase(root: string): readonly (readonly [string, string])[] {
  const mounts: (readonly [string, string])[] = []
  for (const name of baseFolders) {
    const [here, there] = [join('/', name), join(root, name)]
    if (!existsSync(here)) continue
    if (lstatSync(here).isSymbolicLink()) {
      if (!lstatSync(there, { throwIfNoEntry: false })) symlinkSync(readlinkSync(here), there)
    } else {
      mkdirSync(there, { recursive: true })
      mounts.push([here, there])
    }
  }
  for (const [here, there] of [
    [dirname(process.execPath), nodeFolder],
    [homedir(), homeFolder],
  ] as const) {
    mkdirSync(join(root, there), { recursive: true })
    mounts.push([here, join(root, there)])
  }
  mkdirSync(join(root, 'tmp'), { recursive: true, mode: 0o777 })
  return mounts
}

/** Takes the places for the base away again. They are empty: what is not, would be mounted still, and stays. */
function removeBase(root: string): void {
  for (const name of [...baseFolders, nodeFolder, homeFolder, dirname(nodeFolder)]) {
    const path = join(root, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) unlinkSync(path)
    else if (found) rmdirSync(path)
  }
  rmSync(join(root, 'tmp'), { recursive: true, force: true })
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** What a folder takes on a disk, and what its files have, in MiB. */
export function sizeOf(folder: string): { readonly onDiskMb: number; readonly inFilesMb: number } {
  const size = (...flags: string[]) => {
    const printed = execFileSync('du', ['-sm', ...flags, folder], { encoding: 'utf8' })
    return Number(printed.split('\t')[0])
  }
  return { onDiskMb: size(), inFilesMb: size('--apparent-size') }
}
