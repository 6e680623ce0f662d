import { SourceRefused } from '../src/contracts/fetch-connector.ts'

/** Packages that an image can be built without: each by the name that the build argument LEAVE_OUT has for it. */
export const optionalDrivers = {
  kafka: '@platformatic/kafka',
  mssql: 'tedious',
  opcua: 'node-opcua-client',
} as const

/**
 * Loads what needs such a package.
 *
 * @throws SourceRefused that says how to get the package, where it was left out
 */
export async function withDriver<Library>(
  name: keyof typeof optionalDrivers,
  load: () => Promise<Library>,
): Promise<Library> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, optionalDrivers[name])) throw error
    const message =
      `the driver for ${name} is not in this image: build it without ${name} in the build argument LEAVE_OUT ` +
      '(docs/install.md)'
    throw new SourceRefused(message, { cause: error })
  }
}

function isMissing(error: unknown, name: string): boolean {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string }
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)
}
