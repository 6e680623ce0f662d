import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where scripts/install-test-tools puts compiler, libraries and nodes. */
export const evmTools = join(homedir(), '.cache', 'streamvault-test-tools', 'evm')

/** What a contract is compiled for: the rules of the network, and the libraries that compile under them. */
export const targets = [
  { evmVersion: 'cancun', library: 'openzeppelin-5.7.0' },
  { evmVersion: 'london', library: 'openzeppelin-5.0.2' },
] as const

export type Target = (typeof targets)[number]

const contractName = 'StreamvaultAnchors'
const sourceFile = `${contractName}.sol`
const sourceFiles = [sourceFile, 'StreamvaultToken.sol']
const folder = new URL('../../src/ledgers/evm/contract/', import.meta.url)

/** What is committed of a compiled contract, as the compiler says it. */
export interface Artifact {
  readonly contract: string
  readonly compiler: {
    readonly solc: string
    readonly openzeppelin: string
    readonly settings: unknown
  }
  readonly abi: readonly unknown[]
  /** Hex. */
  readonly bytecode: string
}

interface Solc {
  version(): string
  compile(
    input: string,
    callbacks: { readonly import: (path: string) => { readonly contents: string } },
  ): string
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly abi: readonly unknown[]
            readonly evm: { readonly bytecode: { readonly object: string } }
          }
        >
      >
    >
  >
}

export function artifactFile({ evmVersion }: Target): URL {
  return new URL(`${evmVersion}.json`, folder)
}

/** As it is committed. */
export function artifactText(artifact: Artifact): string {
  return `${JSON.stringify(artifact, null, 2)}\n`
}

/** @throws Error with all that the compiler finds wrong */
export function compileContract({ evmVersion, library }: Target): Artifact {
  const tools = createRequire(join(evmTools, 'package.json'))
  const solc = tools('solc') as Solc
  // Without the hash of comments and paths: the same code is the same bytes wherever it is compiled.
  const settings = {
    evmVersion,
    optimizer: { enabled: true, runs: 1_000 },
    metadata: { bytecodeHash: 'none', appendCBOR: false },
  }
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      sourceFiles.map((name) => [name, { content: readFileSync(new URL(name, folder), 'utf8') }]),
    ),
    settings: { ...settings, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  }
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: readFileSync(libraryFile(path, library), 'utf8') }),
    }),
  ) as Output
  const wrong = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  const made = output.contracts[sourceFile]?.[contractName]
  if (wrong.length > 0 || !made) {
    throw new Error(wrong.map(({ formattedMessage }) => formattedMessage).join('\n'))
  }
  return {
    contract: contractName,
    compiler: { solc: solc.version(), openzeppelin: library.slice(-5), settings },
    abi: made.abi,
    bytecode: `0x${made.evm.bytecode.object}`,
  }
}

function libraryFile(path: string, library: string): string {
  return join(evmTools, 'node_modules', path.replace('@openzeppelin/contracts', library))
}
