/** The webview's document: only its own script and style may load, and nothing inline. */
export function pageOf({ csp, nonce, script, style }: Record<'csp' | 'nonce' | 'script' | 'style', string>): string {
  const policy = `default-src 'none'; style-src ${csp}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Tidemill fleet</title>
</head>
<body>
<main id="fleet" aria-label="Fleet"></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
