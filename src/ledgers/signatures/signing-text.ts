/**
 * The text that somebody signs to sign content: its bytes in UTF-8. Nothing but the CID goes into it, so everybody who
 * has the content can make it.
 */
export function signingText(cid: string): string {
  return `Streamvault signature of content, version 1\nCID: ${cid}\n`
}
