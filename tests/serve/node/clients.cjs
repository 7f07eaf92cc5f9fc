// Speaks to the server at PORT by ioredis and by node-redis, with no settings but the token; prints what came back.
// Usage: node clients.cjs FOLDER_WITH_MODULES PORT [TOKEN]
const { createRequire } = require("node:module");

const [folder, port, token] = process.argv.slice(2);
const load = createRequire(folder + "/");

async function byIoredis() {
  const Redis = load("ioredis");
  const client = new Redis(Number(port), "127.0.0.1", { password: token });
  const said = {
    ping: await client.ping(),
    throttle: await client.call("CL.THROTTLE", "ioredis", 4, 1, 60),
    check: await client.call("WEIR.CHECK", "api", "ioredis"),
  };
  const pipeline = client.pipeline().call("CL.THROTTLE", "ioredis", 4, 1, 60).get("a").ping();
  said.pipeline = (await pipeline.exec()).map(([error, value]) => (error ? error.message : value));
  const multi = client.multi().call("CL.THROTTLE", "ioredis", 4, 1, 60).ping();
  said.multi = (await multi.exec()).map(([error, value]) => (error ? error.message : value));
  await client.quit();
  return said;
}

async function byNodeRedis(RESP) {
  const { createClient } = load("redis");
  const client = createClient({ url: `redis://127.0.0.1:${port}`, password: token, RESP });
  client.on("error", (error) => { throw error; });
  await client.connect();
  const said = {
    ping: await client.ping(),
    throttle: await client.sendCommand(["CL.THROTTLE", `node-redis ${RESP}`, "4", "1", "60"]),
    check: await client.sendCommand(["WEIR.CHECK", "api", `node-redis ${RESP}`]),
  };
  const multi = client.multi().addCommand(["CL.THROTTLE", `node-redis ${RESP}`, "4", "1", "60"]).ping();
  said.multi = await multi.exec();
  await client.close();
  return said;
}

async function main() {
  const said = { ioredis: await byIoredis(), node_redis_2: await byNodeRedis(2), node_redis_3: await byNodeRedis(3) };
  console.log(JSON.stringify(said));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
