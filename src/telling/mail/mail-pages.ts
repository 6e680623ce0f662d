import { createHash } from 'node:crypto'

/** What people see who follow a link of a mail. All of it is our own words. */
interface Page {
  readonly title: string
  readonly text: string
  /** What a button says that sends the page's own address as a POST. */
  readonly button?: string
}

const pages = {
  verify: {
    title: 'Confirm this address',
    text: 'Then notifications are sent to it. Every one of them has a link that ends them.',
    button: 'Confirm',
  },
  verified: {
    title: 'Address confirmed',
    text: 'From now on notifications are sent to this address. Every one of them has a link that ends them.',
  },
  switchedOff: {
    title: 'Address switched off',
    text: 'This address is switched off, so there is nothing to confirm. Its owner can have another link sent.',
  },
  expired: {
    title: 'Link expired',
    text: 'This link was good for three days. Another one can be sent from the account that has named the address.',
  },
  unknown: {
    title: 'Unknown link',
    text: 'This link leads to nothing: it is not complete, or the address was removed.',
  },
  unsubscribe: {
    title: 'Unsubscribe',
    text: 'Then no notifications are sent to this address any more, until it is confirmed again.',
    button: 'Unsubscribe',
  },
  unsubscribed: {
    title: 'Unsubscribed',
    text: 'Notifications are not sent to this address any more.',
  },
} as const satisfies Readonly<Record<string, Page>>

export type PageName = keyof typeof pages

const style = `body{margin:0;background:#f2f4f7;color:#1d2433;font:16px/1.5 system-ui,sans-serif}
main{max-width:26rem;margin:15vh auto 0;padding:2rem;background:#fff;border:1px solid #d9dee7;border-radius:8px}
h1{margin:0 0 .5rem;font-size:1.25rem}p{margin:0}
button{margin-top:1.25rem;padding:.6rem 1.2rem;border:0;border-radius:6px;background:#1f4fd1;color:#fff;font:inherit;font-weight:600;cursor:pointer}`

const styleDigest = createHash('sha256').update(style).digest('base64')

/** Nothing but our own style, and forms that lead back to us. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleDigest}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

export function pageOf(name: PageName): string {
  const { title, text, button }: Page = pages[name]
  const form = button === undefined ? '' : `<form method="post"><button>${button}</button></form>`
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head>
<body><main><h1>${title}</h1><p>${text}</p>${form}</main></body>
</html>
`
}
