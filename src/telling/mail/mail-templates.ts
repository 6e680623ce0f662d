import { Eta } from 'eta'
import type { MailContent } from './mail-content.ts'

/** What a template is filled with. */
export interface FilledMail extends MailContent {
  readonly color: string
  readonly unsubscribe: string
}

/** `<%=` escapes for HTML. Styles stand at the elements: mail programs throw away style sheets. */
const htmlTemplate = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title><%= it.subject %></title>
</head>
<body style="margin:0;padding:0;background:#f2f4f7;color:#1d2433;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border:1px solid #d9dee7;border-radius:8px;border-collapse:separate">
<tr><td style="height:4px;line-height:4px;font-size:0;background:<%= it.color %>;border-radius:8px 8px 0 0">&nbsp;</td></tr>
<tr><td style="padding:24px 28px 0;font-size:13px;letter-spacing:.02em;color:#5b667a">Streamvault</td></tr>
<tr><td style="padding:4px 28px 0"><h1 style="margin:0;font-size:20px;line-height:28px;font-weight:600;overflow-wrap:anywhere"><%= it.heading %></h1></td></tr>
<% for (const paragraph of it.paragraphs) { %>
<tr><td style="padding:12px 28px 0;font-size:15px;line-height:23px;overflow-wrap:anywhere"><%= paragraph %></td></tr>
<% } %>
<% if (it.facts.length > 0) { %>
<tr><td style="padding:16px 28px 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border-top:1px solid #e6e9ef;font-size:14px;line-height:20px">
<% for (const [name, value] of it.facts) { %>
<tr><td valign="top" style="padding:7px 16px 7px 0;border-bottom:1px solid #e6e9ef;color:#5b667a;white-space:nowrap"><%= name %></td><td width="100%" style="padding:7px 0;border-bottom:1px solid #e6e9ef;overflow-wrap:anywhere;word-break:break-word"><%= value %></td></tr>
<% } %>
</table>
</td></tr>
<% } %>
<tr><td style="padding:24px 28px 28px"><a href="<%= it.link.href %>" style="display:inline-block;padding:11px 20px;border-radius:6px;background:#1f4fd1;color:#ffffff;font-size:15px;font-weight:600;text-decoration:none"><%= it.link.label %></a></td></tr>
</table>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px">
<tr><td style="padding:16px 28px 0;font-size:12px;line-height:18px;color:#5b667a"><%= it.reason %> <a href="<%= it.unsubscribe %>" style="color:#5b667a">Unsubscribe</a></td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`

/** A tag takes the line break after it away. */
const textTemplate = `<%= it.heading %>


<% for (const paragraph of it.paragraphs) { %>
<%= paragraph %>


<% } %>
<% for (const [name, value] of it.facts) { %>
<%= name %>: <%= value %>

<% } %>
<% if (it.facts.length > 0) { %>

<% } %>
<%= it.link.label %>:
<%= it.link.href %>


--
<%= it.reason %>

Unsubscribe: <%= it.unsubscribe %>

`

const html = new Eta({ autoEscape: true })
const plain = new Eta({ autoEscape: false })
const compiledHtml = html.compile(htmlTemplate)
const compiledText = plain.compile(textTemplate)

export function htmlOf(mail: FilledMail): string {
  return html.render(compiledHtml, mail)
}

export function plainTextOf(mail: FilledMail): string {
  return plain.render(compiledText, mail)
}
