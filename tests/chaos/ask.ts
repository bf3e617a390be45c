// One SQL query to the server.

export async function ask(url: string, query: string): Promise<string[][]> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/v1/sql`, { method: "POST", headers, body: JSON.stringify({ query }) });
  const body = (await answer.json()) as { rows?: string[][] };
  if (body.rows === undefined) throw new Error(`${query}: ${answer.status} ${JSON.stringify(body)}`);
  return body.rows;
}
