import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { installedProgram } from '../../scripts/servers/installed-program.ts'
import { runServer } from '../../scripts/servers/run-server.ts'

/** Real proxies of HTTP, each with what has to be around the configuration of a page to run it here. */
const proxies = {
  caddy: {
    main: '{\n\tadmin off\n\tauto_https disable_redirects\n\tgrace_period 1s\n}\nimport Caddyfile\n',
    args: ['run', '--adapter', 'caddyfile', '--config'],
  },
  nginx: {
    main: [
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'daemon off; pid nginx.pid; error_log stderr;',
      'events {}',
      'http {',
      '  access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;',
      '  uwsgi_temp_path uwsgi; scgi_temp_path scgi;',
      '  include streamvault.conf;',
      '}\n',
    ].join('\n'),
    args: ['-e', 'stderr', '-c'],
  },
} as const

export type ProxyName = keyof typeof proxies

/** The programs that are not installed. */
export function missingProxies(): readonly string[] {
  return Object.keys(proxies).filter((name) => installedProgram(name) === undefined)
}

/**
 * Starts a proxy with the configuration that lies in the folder, and resolves with how to end it when it answers at the
 * port of 127.0.0.1.
 */
export async function startProxy(
  name: ProxyName,
  folder: string,
  port: number,
): Promise<() => Promise<void>> {
  const { main, args } = proxies[name]
  const path = join(folder, `${name}-main.conf`)
  writeFileSync(path, main)
  const prefix = name === 'nginx' ? ['-p', folder] : []
  const child = await runServer({
    name,
    folder,
    command: [installedProgram(name) ?? name, ...prefix, ...args, path],
    // Where Caddy would keep certificates.
    environment: { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    outlives: false,
    isReady: async () => await isOpen(port),
  })
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
